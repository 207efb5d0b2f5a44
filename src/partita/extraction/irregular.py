"""English words whose forms follow no rule: nouns with their plurals, verbs with their past."""

from __future__ import annotations

# noun: plural
NOUNS = """
man:men woman:women child:children foot:feet tooth:teeth goose:geese mouse:mice person:people
half:halves knife:knives life:lives wife:wives wolf:wolves leaf:leaves shelf:shelves loaf:loaves
thief:thieves calf:calves self:selves hoof:hooves wharf:wharves staff:staffs echo:echoes
hero:heroes potato:potatoes tomato:tomatoes torpedo:torpedoes embargo:embargoes veto:vetoes
cargo:cargoes volcano:volcanoes mosquito:mosquitoes crisis:crises analysis:analyses thesis:theses
oasis:oases datum:data medium:media phenomenon:phenomena criterion:criteria aircraft:aircraft
spacecraft:spacecraft sheep:sheep fish:fish deer:deer series:series species:species corps:corps
means:means headquarters:headquarters barracks:barracks works:works crossroads:crossroads
ordnance:ordnance personnel:personnel bus:buses gas:gases quiz:quizzes lens:lenses index:indexes
"""

# infinitive: past participle [third person]; "past" alone where the participle is the same
VERBS = """
be:was/were:been:is/am/are have:had:had:has do:did:done:does go:went:gone:goes say:said make:made
get:got:got/gotten take:took:taken come:came:come see:saw:seen know:knew:known give:gave:given
find:found think:thought tell:told become:became:become show:showed:shown leave:left feel:felt
put:put bring:brought begin:began:begun keep:kept hold:held write:wrote:written stand:stood
hear:heard let:let mean:meant set:set meet:met run:ran:run pay:paid sit:sat speak:spoke:spoken
lie:lay:lain lead:led read:read grow:grew:grown lose:lost fall:fell:fallen send:sent build:built
understand:understood draw:drew:drawn break:broke:broken spend:spent cut:cut rise:rose:risen
drive:drove:driven buy:bought wear:wore:worn choose:chose:chosen seek:sought throw:threw:thrown
catch:caught deal:dealt win:won forget:forgot:forgotten lay:laid sell:sold fight:fought
bear:bore:borne teach:taught eat:ate:eaten sing:sang:sung strike:struck hang:hung
shake:shook:shaken ride:rode:ridden feed:fed shoot:shot drink:drank:drunk hit:hit
arise:arose:arisen fly:flew:flown spread:spread sleep:slept cost:cost beat:beat:beaten light:lit
bind:bound cast:cast hide:hid:hidden swing:swung steal:stole:stolen wake:woke:woken swim:swam:swum
sweep:swept split:split slide:slid shut:shut sink:sank:sunk bend:bent blow:blew:blown burst:burst
dig:dug flee:fled freeze:froze:frozen hurt:hurt kneel:knelt lend:lent overrun:overran:overrun
oversee:oversaw:overseen quit:quit rid:rid ring:rang:rung shed:shed shine:shone
shrink:shrank:shrunk spin:spun spring:sprang:sprung stick:stuck sting:stung swear:swore:sworn
tear:tore:torn undergo:underwent:undergone undertake:undertook:undertaken
withdraw:withdrew:withdrawn withhold:withheld rebuild:rebuilt overthrow:overthrew:overthrown
foresee:foresaw:foreseen mislead:misled outfit:outfitted refit:refitted bleed:bled breed:bred
creep:crept cling:clung grind:ground weave:wove:woven weep:wept wind:wound
"""

# regular verbs that a rule would not find back from their forms
REGULAR = """
complete require acquire compete delete promote devote quote vote operate die tie patrol control
admit permit commit submit refer occur transfer equip inspire expire retire desire hire explore
restore ignore score shore bore adore secure ensure assure insure endure procure obscure measure
pressure deplete invite unite ignite excite despite recite emplace enforce reinforce surprise
compile profile escape shape scrape scope cope elope develop envelop gallop benefit profit target
market budget exit edit credit inherit prohibit exhibit inhabit limit orbit edit audit interpret
blanket bracket rocket
"""


def plurals() -> dict[str, str]:
    """The plural of each irregular noun."""
    pairs = (both.partition(":") for both in NOUNS.split())
    return {noun: plural for noun, _, plural in pairs}


def pasts() -> dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """Of each irregular verb the past tense, the participles and the present, where irregular."""
    found = {}
    for line in VERBS.split():
        verb, past, *rest = line.split(":")
        participle = rest[0] if rest else past
        present = rest[1].split("/") if len(rest) > 1 else []
        found[verb] = (tuple(past.split("/")), tuple(participle.split("/")), tuple(present))
    return found
