/** Types of the service's answers, as far as the page uses them; see the schema of results. */

/** @typedef {string[][]} Cells */
/** @typedef {string|number|string[]|null} SlotValue */

/**
 * @typedef {object} Template
 * @property {string} id
 * @property {string} [text]
 * @property {number} [start]
 * @property {number} [end]
 * @property {string} [sort]
 * @property {string} [form]
 * @property {string} [region]
 * @property {string} [rule]
 * @property {Record<string, SlotValue>} [slots]
 * @property {{id: string, preferred: boolean}[]} [antecedents]
 */

/** @typedef {{probability: number, interval?: [number, number]|null, error?: number|null}} Figure */
/** @typedef {{left: string, right: string, probability: number, marginal: number}} Pair */
/** @typedef {Figure & {cells: Cells}} Configuration */
/** @typedef {Figure & {value: SlotValue, templates: string[]}} Value */

/**
 * @typedef {object} EntityFields
 * @property {string} id
 * @property {string} sort
 * @property {string[]} templates
 * @property {string} [anchor]
 * @property {string} [name]
 * @property {string[]} [descriptions]
 * @property {string} [message]
 * @property {string} [set]
 * @property {number} [confidence] mean probability of the pairs of its mentions
 * @property {Record<string, Value[]>} slots
 */
/** @typedef {Figure & EntityFields} Entity */

/** @typedef {Figure & {settled: boolean, templates: string[]}} PartialCell */
/** @typedef {Figure & {cells: PartialCell[]}} Partial */

/**
 * @typedef {object} ResultSet a coreference set with its distribution
 * @property {string} set
 * @property {Template[]} templates
 * @property {[string, string][]} incompatible
 * @property {Pair[]} pairs
 * @property {Configuration[]} configurations
 * @property {Cells} answer the entities of the message, as cells of this set
 * @property {number} answerRank of the configuration that is the answer, or -1
 * @property {Partial|null} [partial]
 * @property {{count: string, probability: number}} remainder
 * @property {string} [count]
 * @property {number|null} entropy_bits
 * @property {number|null} conflict
 * @property {string} model
 * @property {string} reason
 */

/**
 * @typedef {object} Message
 * @property {string} message
 * @property {string} text
 * @property {ResultSet[]} sets
 * @property {Template[]} singletons
 * @property {string[]} [notes]
 * @property {Entity[]} entities
 * @property {Map<string, Entity>} home the entity of each template
 */

/**
 * @typedef {object} MessageRow a message in a list
 * @property {string} message
 * @property {string} title
 * @property {number|null} entropy_bits
 * @property {number} sets
 * @property {number} keyed
 * @property {string} error
 */

/** @typedef {{name: string, parent: string|null, domain: string, messages: number, started: string}} Run */
/** @typedef {{cells: Cells, weight: number}} Alternative */

/**
 * @typedef {object} Key
 * @property {number} key its number
 * @property {Cells} cells
 * @property {Alternative[]} alternatives
 * @property {string} author
 * @property {string} time
 * @property {string|null} withdrawn
 */

/** @typedef {{cells: Cells, votes: number, authors: string[]}} Vote */
/** @typedef {{authors: number, disputed: boolean, votes: Vote[]}} Agreement */

/**
 * @typedef {object} NextSet
 * @property {string} set
 * @property {string} message
 * @property {number|null} gain in bits; null where the run is not trained on keys
 * @property {number} entropy_bits
 * @property {number} templates how many
 */
/** @typedef {{predicted: number, observed: number, count: number}} Bin */

/** @typedef {{before: number, after: number}} Change */
/** @typedef {{set: string, bits: Change, probability: Change}} KeyChange */
/** @typedef {{keys: number, bits: Change, note: string|null, sets: KeyChange[]}} TrainingReport */
/** @typedef {{run: string, report: TrainingReport}} Trained */

/** @typedef {{feature: string, weight: number, documentation: string}} Contribution */
/** @typedef {{templates: string[], before: number, after: number}} Influence */
/** @typedef {{contributions: Contribution[], log_odds: number, probability: number}} PairAlone */
/** @typedef {{probability: number, marginal: number, influences: Influence[]}} RestOfSet */

/**
 * @typedef {object} Explanation
 * @property {string} left
 * @property {string} right
 * @property {number} probability
 * @property {number} marginal
 * @property {PairAlone|null} pair
 * @property {RestOfSet|null} rest
 * @property {Record<string, string>} expressions
 * @property {string[]} notes
 * @property {{sentence: string, carrier: string, runner_up: string[]}|null} [decision]
 */

/** @typedef {{left: string, right: string, conflict: number}} Contradiction */
/** @typedef {{set: string, conflict?: number|null, contradicted?: Contradiction[]}} FusedSet */

/**
 * @typedef {object} Fused the result of fusion: entities across sources, or objects of claims
 * @property {any[]} [entities]
 * @property {any[]} [objects]
 * @property {FusedSet[]} [sets]
 * @property {any[]} sources
 * @property {any[]} [copying]
 * @property {Record<string, any>} [slots] what was learned of each slot of claims
 * @property {string[]} notes
 * @property {Record<string, string>} runs which file is which run
 * @property {{pairs: number, of: number}} [compared]
 * @property {{source: string, changes: any[]}} [without]
 */

/** @typedef {{record: any, cluster: any, given?: any, shown?: string, membership?: number, exact?: number}} ClusteredRecord */
/** @typedef {{left: any, right: any, score: number, probability: number}} ScoredPair */
/** @typedef {{cluster: any, change: "merge"|"split", with: any, records: any[], probability: number}} ClusterChange */
/** @typedef {{left: any, right: any, probability: number, bits: number}} Question */

/**
 * @typedef {object} ReviewSet records that may be the same
 * @property {ClusteredRecord[]} records
 * @property {ScoredPair[]} pairs
 * @property {ClusterChange[]} alternatives
 * @property {Question[]} questions
 * @property {number} bits
 * @property {boolean} differs whether the given clusters divide it otherwise
 */
/** @typedef {{summary: any, total: number, sets: ReviewSet[], clusters?: any[][]}} ReviewSets */

export {};
