/** Examples that one click adds: what the button says, the data, its kind and the domain it needs. */

/** @type {Record<string, {text: string, kind: string, domain?: string}>} */
export const SAMPLES = {
  "An article": {
    kind: "text",
    domain: "general",
    text: `Acme to buy Borealis

Acme Corp. said on Monday that it would buy Borealis, a maker of weather balloons,
for $40 million. Jane Doe, the chief executive of Acme, told reporters that the deal
would close in May. "We have wanted this company for years," she said.

Borealis was founded in Oslo in 1998. Its chairman, Lars Berg, will leave the firm
when the sale is complete. He declined to comment on the price.
`,
  },
  "A table of people": {
    kind: "records",
    text: `id,name,street,city
1,Ann Lee,4 Mill Road,Leeds
2,Anne Lee,4 Mill Rd,Leeds
3,Ann Leigh,12 Park Lane,York
4,Robert Hall,9 High Street,Hull
5,Rob Hall,9 High St,Hull
6,Maria Gomez,1 Quay,Bristol
7,María Gómez,1 The Quay,Bristol
`,
  },
  "Pair scores": {
    kind: "scores",
    text: `unique_id_l,unique_id_r,match_probability
Ann Lee,A. Lee,0.91
A. Lee,Anne Leigh,0.55
Ann Lee,Anne Leigh,0.42
Anne Leigh,A. Leigh,0.62
Bob Stone,Robert Stone,0.83
Robert Stone,R. Stone,0.48
Bob Stone,R. Stone,0.39
Carla Diaz,Karla Diaz,0.97
`,
  },
  "Sources that disagree": {
    kind: "claims",
    text: `object,source,city,built
Kinston depot,archive,Kinston,1951
Kinston depot,press,Kinston,1951
Kinston depot,forum,Fairview,1915
Fairview depot,archive,Fairview,1940
Fairview depot,press,Fairview,1940
Fairview depot,forum,Toledo,1940
Raleigh depot,press,Raleigh,1962
Raleigh depot,forum,Durham,1926
`,
  },
  "The paper's message": {
    kind: "text",
    domain: "depots",
    text: `Subj: Kinston Military Rail Depot

A rail depot was found 100 km southwest of the capitol of Raleigh, consisting
of extensive admin and support areas (similar to the ammunition depot in
Fairview), two material storage areas, extensive transshipment facilities
(some of which are under construction immediately east of the depot), and
several training areas.
`,
  },
};
