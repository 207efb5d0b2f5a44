BEGIN TRANSACTION;
CREATE TABLE antecedents (
	run TEXT NOT NULL, 
	message TEXT NOT NULL, 
	template TEXT NOT NULL, 
	rank INTEGER NOT NULL, 
	antecedent TEXT NOT NULL, 
	preferred BOOLEAN NOT NULL, 
	PRIMARY KEY (run, message, template, rank), 
	FOREIGN KEY(run, message, template) REFERENCES templates (run, message, template) ON DELETE CASCADE
)
 WITHOUT ROWID
;
INSERT INTO "antecedents" VALUES('monday','tarboro','T3',1,'T2',1);
INSERT INTO "antecedents" VALUES('monday','tarboro','T3',2,'T1',0);
CREATE TABLE configurations (
	run TEXT NOT NULL, 
	set_name TEXT NOT NULL, 
	rank INTEGER NOT NULL, 
	cells JSON NOT NULL, 
	probability DOUBLE NOT NULL, 
	low DOUBLE, 
	high DOUBLE, 
	PRIMARY KEY (run, set_name, rank), 
	FOREIGN KEY(run, set_name) REFERENCES sets (run, set_name) ON DELETE CASCADE
)
 WITHOUT ROWID
;
INSERT INTO "configurations" VALUES('joint','acme.1',1,'[["m1", "m3"], ["m2"], ["m4"]]',4.67757362879913152209e-01,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',2,'[["m1"], ["m2"], ["m3"], ["m4"]]',2.67656946282758434474e-01,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',3,'[["m1"], ["m2", "m3"], ["m4"]]',1.91737090952112332331e-01,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',4,'[["m1"], ["m2"], ["m3", "m4"]]',2.72382852802115424384e-02,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',5,'[["m1", "m2"], ["m3"], ["m4"]]',1.33749523884609689688e-02,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',6,'[["m1", "m2", "m3"], ["m4"]]',1.33381812583505329761e-02,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',7,'[["m1"], ["m2", "m3", "m4"]]',5.92472090614940515018e-03,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',8,'[["m1", "m3", "m4"], ["m2"]]',4.23792821814002532154e-03,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',9,'[["m1", "m3"], ["m2", "m4"]]',4.06771067995204561179e-03,NULL,NULL);
INSERT INTO "configurations" VALUES('joint','acme.1',10,'[["m1"], ["m2", "m4"], ["m3"]]',2.32759782177333930663e-03,NULL,NULL);
INSERT INTO "configurations" VALUES('monday','tarboro.1',1,'[["T1", "T2", "T3"]]',9.87349421754840750331e-01,NULL,NULL);
INSERT INTO "configurations" VALUES('monday','tarboro.1',2,'[["T1"], ["T2", "T3"]]',6.96083891501657944095e-03,NULL,NULL);
INSERT INTO "configurations" VALUES('monday','tarboro.1',3,'[["T1", "T3"], ["T2"]]',3.56839530681475744153e-03,NULL,NULL);
INSERT INTO "configurations" VALUES('monday','tarboro.1',4,'[["T1", "T2"], ["T3"]]',1.9025669503351728181e-03,NULL,NULL);
INSERT INTO "configurations" VALUES('monday','tarboro.1',5,'[["T1"], ["T2"], ["T3"]]',2.18777072992579614367e-04,NULL,NULL);
CREATE TABLE entities (
	run TEXT NOT NULL, 
	message TEXT NOT NULL, 
	entity TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	set_name TEXT, 
	sort TEXT NOT NULL, 
	name TEXT NOT NULL, 
	anchor TEXT NOT NULL, 
	templates JSON NOT NULL, 
	descriptions JSON NOT NULL, 
	probability DOUBLE NOT NULL, 
	low DOUBLE, 
	high DOUBLE, 
	error DOUBLE, denied JSON, 
	PRIMARY KEY (run, message, entity), 
	FOREIGN KEY(run, message) REFERENCES messages (run, message) ON DELETE CASCADE, 
	FOREIGN KEY(run, set_name) REFERENCES sets (run, set_name) ON DELETE CASCADE
);
INSERT INTO "entities" VALUES('monday','tarboro','E1',0,'tarboro.1','DEPOT','','T1','["T1", "T2", "T3"]','["Tarboro Fuel Depot", "The depot"]',9.87349421754841305443e-01,NULL,NULL,NULL,NULL);
INSERT INTO "entities" VALUES('monday','tarboro','E2',1,NULL,'STORAGE TANK','','T4','["T4"]','["nine storage tanks"]',1.0,NULL,NULL,NULL,NULL);
INSERT INTO "entities" VALUES('joint','acme','E1',0,'acme.1','abstract','Acme','m1','["m1", "m3"]','["It"]',4.71825073559865193484e-01,NULL,NULL,NULL,NULL);
INSERT INTO "entities" VALUES('joint','acme','E2',1,'acme.1','person','Borealis','m2','["m2"]','[]',7.6733394245730268679e-01,NULL,NULL,NULL,NULL);
INSERT INTO "entities" VALUES('joint','acme','E3',2,'acme.1','object','','m4','["m4"]','["cash"]',9.53864533761595412286e-01,NULL,NULL,NULL,NULL);
CREATE TABLE jobs (
	job TEXT NOT NULL, 
	run TEXT NOT NULL, 
	request JSON NOT NULL, 
	state TEXT NOT NULL, 
	progress TEXT NOT NULL, 
	result JSON, 
	error TEXT, 
	created TEXT NOT NULL, 
	changed TEXT NOT NULL, 
	PRIMARY KEY (job), 
	FOREIGN KEY(run) REFERENCES runs (run) ON DELETE CASCADE
);
CREATE TABLE keys (
	id INTEGER NOT NULL, 
	run TEXT NOT NULL, 
	set_name TEXT NOT NULL, 
	message TEXT NOT NULL, 
	templates JSON NOT NULL, 
	cells JSON NOT NULL, 
	alternatives JSON NOT NULL, 
	author TEXT NOT NULL, 
	time TEXT NOT NULL, 
	based_on INTEGER, withdrawn TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(run, set_name) REFERENCES sets (run, set_name)
);
INSERT INTO "keys" VALUES(1,'monday','tarboro.1','tarboro','["T1", "T2", "T3"]','[["T1", "T2"], ["T3"]]','[]','anna','2026-11-17T23:36:23.169+00:00',NULL,NULL);
CREATE TABLE messages (
	run TEXT NOT NULL, 
	message TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	title TEXT NOT NULL, 
	place TEXT NOT NULL, 
	text_hash TEXT NOT NULL, 
	fields JSON NOT NULL, 
	error TEXT NOT NULL, 
	templates INTEGER NOT NULL, 
	sets INTEGER NOT NULL, 
	entities INTEGER NOT NULL, 
	entropy_bits DOUBLE NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (run, message), 
	FOREIGN KEY(run) REFERENCES runs (run) ON DELETE CASCADE
);
INSERT INTO "messages" VALUES('monday','tarboro',0,'Tarboro Fuel Depot','tarboro.txt','6cb46f5e082a30f1','{"subject": "Tarboro Fuel Depot"}','',4,1,2,1.16887913261358653005e-01,'Subj: Tarboro Fuel Depot
A fuel depot was identified near Tarboro. The depot holds nine storage tanks.
');
INSERT INTO "messages" VALUES('joint','acme',0,'Acme bought Borealis. It paid in cash.','acme.txt','aac2a91377fd72bf','{}','',4,1,3,1.94078714333939439384e+00,'Acme bought Borealis. It paid in cash.');
CREATE TABLE models (
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	learned_from TEXT NOT NULL, 
	text TEXT NOT NULL, 
	keys_used JSON NOT NULL, 
	report JSON, 
	made TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "models" VALUES('7461662763d97fa1','pairs','the parts dev and msg of the corpus of depots, 72 messages','TEXT OF pairs.json','[]',NULL,'2026-11-17T23:35:48.146+00:00');
INSERT INTO "models" VALUES('188a9a0a5e579daa','joint','117 documents of the genres academic, bio, court, interview, news, speech, textbook, vlog, voyage: GUM_academic_art.conllu to GUM_voyage_york.conllu','TEXT OF joint.json','[]',NULL,'2026-11-17T23:35:50.400+00:00');
CREATE TABLE pairs (
	run TEXT NOT NULL, 
	set_name TEXT NOT NULL, 
	left_template TEXT NOT NULL, 
	right_template TEXT NOT NULL, 
	probability DOUBLE NOT NULL, 
	marginal DOUBLE NOT NULL, 
	low DOUBLE, 
	high DOUBLE, 
	PRIMARY KEY (run, set_name, left_template, right_template), 
	FOREIGN KEY(run, set_name) REFERENCES sets (run, set_name) ON DELETE CASCADE
)
 WITHOUT ROWID
;
INSERT INTO "pairs" VALUES('joint','acme.1','m1','m2',2.82912916928772378843e-02,2.82912916928772378843e-02,NULL,NULL);
INSERT INTO "pairs" VALUES('joint','acme.1','m1','m3',4.89571496097177538686e-01,4.89571496097177538686e-01,NULL,NULL);
INSERT INTO "pairs" VALUES('joint','acme.1','m1','m4',5.21604071861485243249e-03,5.21604071861485243249e-03,NULL,NULL);
INSERT INTO "pairs" VALUES('joint','acme.1','m2','m3',2.11487951667267137789e-01,2.11487951667267137789e-01,NULL,NULL);
INSERT INTO "pairs" VALUES('joint','acme.1','m2','m4',1.25370766222370200182e-02,1.25370766222370200182e-02,NULL,NULL);
INSERT INTO "pairs" VALUES('joint','acme.1','m3','m4',3.89323582970262579983e-02,3.89323582970262579983e-02,NULL,NULL);
INSERT INTO "pairs" VALUES('monday','tarboro.1','T1','T2',8.96868649975318898981e-01,9.89251988705175944183e-01,NULL,NULL);
INSERT INTO "pairs" VALUES('monday','tarboro.1','T1','T3',9.42232079490474827565e-01,9.90917817061655492594e-01,NULL,NULL);
INSERT INTO "pairs" VALUES('monday','tarboro.1','T2','T3',9.69528025822277372824e-01,9.94310260669857282067e-01,NULL,NULL);
CREATE TABLE partita_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT partita_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "partita_version" VALUES('0003');
CREATE TABLE runs (
	run TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	model TEXT NOT NULL, 
	settings JSON NOT NULL, 
	asked JSON NOT NULL, 
	inputs JSON NOT NULL, 
	versions JSON NOT NULL, 
	started TEXT NOT NULL, 
	finished TEXT, 
	outcome TEXT NOT NULL, 
	parent TEXT, 
	model_id TEXT, 
	PRIMARY KEY (run), 
	FOREIGN KEY(parent) REFERENCES runs (run), 
	FOREIGN KEY(model_id) REFERENCES models (id)
);
INSERT INTO "runs" VALUES('monday','depots','evidential','{"partita": "0.1.0", "domain": "depots", "rules": "d7e76af5e9209db0", "model": "evidential", "parameters": "7461662763d97fa1", "top": null, "threshold": null, "work": 30000, "seed": 0}','{"domain": "depots", "model": "evidential", "top": null, "threshold": null, "seconds": null, "work": 30000, "seed": 0, "gazetteer": ""}','["tarboro.txt"]','{"python": "3.11.7", "partita": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1", "numba": "0.68.1"}','2026-11-17T23:35:48.152+00:00','2026-11-17T23:35:48.920+00:00','complete',NULL,'7461662763d97fa1');
INSERT INTO "runs" VALUES('joint','general','joint','{"partita": "0.1.0", "domain": "general", "rules": "a0f03acddbd5613c", "model": "joint", "parameters": "188a9a0a5e579daa", "top": null, "threshold": null, "work": 0, "seed": 0}','{"domain": "general", "model": "joint", "top": null, "threshold": null, "seconds": null, "work": 0, "seed": 0, "gazetteer": ""}','["acme.txt"]','{"python": "3.11.7", "partita": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1", "numba": "0.68.1"}','2026-11-17T23:35:50.436+00:00','2026-11-17T23:35:51.175+00:00','complete',NULL,'188a9a0a5e579daa');
CREATE TABLE sets (
	run TEXT NOT NULL, 
	set_name TEXT NOT NULL, 
	message TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	model TEXT NOT NULL, 
	method TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	seed BIGINT NOT NULL, 
	count TEXT, 
	log2_count DOUBLE, 
	remainder_count TEXT, 
	remainder_log2_count DOUBLE, 
	remainder_probability DOUBLE NOT NULL, 
	entropy_bits DOUBLE, 
	log_normaliser DOUBLE, 
	"conflict" DOUBLE, 
	incompatible JSON NOT NULL, 
	more JSON NOT NULL, 
	PRIMARY KEY (run, set_name), 
	FOREIGN KEY(run, message) REFERENCES messages (run, message) ON DELETE CASCADE
);
INSERT INTO "sets" VALUES('monday','tarboro.1','tarboro',0,'evidential','exact','exact by enumeration',0,'5',2.3219280948873621817e+00,'0',NULL,0.0,1.16887913261358653005e-01,8.42745727813267286876e+00,1.70194667762752327444e-01,'[]','{}');
INSERT INTO "sets" VALUES('joint','acme.1','acme',0,'joint','exact','exact by enumeration',0,'15',3.90689059560851870145e+00,'5',2.3219280948873621817e+00,2.33922333217817524086e-03,1.94078714333939439384e+00,0.0,NULL,'[]','{}');
CREATE TABLE slot_values (
	run TEXT NOT NULL, 
	message TEXT NOT NULL, 
	entity TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	slot TEXT NOT NULL, 
	value TEXT, 
	value_json JSON, 
	probability DOUBLE NOT NULL, 
	low DOUBLE, 
	high DOUBLE, 
	error DOUBLE, 
	templates JSON NOT NULL, status TEXT, 
	PRIMARY KEY (run, message, entity, position), 
	FOREIGN KEY(run, message, entity) REFERENCES entities (run, message, entity) ON DELETE CASCADE
)
 WITHOUT ROWID
;
INSERT INTO "slot_values" VALUES('joint','acme','E1',0,'NAME','Acme','["Acme"]',0.971708708307123,NULL,NULL,NULL,'["m1"]','asserted');
INSERT INTO "slot_values" VALUES('joint','acme','E1',1,'NAME','Acme & Borealis','["Acme", "Borealis"]',2.82912916928772413538e-02,NULL,NULL,NULL,'["m1", "m2"]','asserted');
INSERT INTO "slot_values" VALUES('joint','acme','E2',0,'NAME','Borealis','["Borealis"]',9.71708708307122637215e-01,NULL,NULL,NULL,'["m2"]','asserted');
INSERT INTO "slot_values" VALUES('joint','acme','E2',1,'NAME','Acme & Borealis','["Acme", "Borealis"]',2.82912916928772344149e-02,NULL,NULL,NULL,'["m1", "m2"]','asserted');
INSERT INTO "slot_values" VALUES('joint','acme','E3',0,'NAME',NULL,NULL,9.82463929873510499746e-01,NULL,NULL,NULL,'[]','asserted');
INSERT INTO "slot_values" VALUES('joint','acme','E3',1,'NAME','Borealis','["Borealis"]',1.23200294078747892012e-02,NULL,NULL,NULL,'["m2"]','asserted');
INSERT INTO "slot_values" VALUES('joint','acme','E3',2,'NAME','Acme','["Acme"]',4.99899350425262248287e-03,NULL,NULL,NULL,'["m1"]','asserted');
INSERT INTO "slot_values" VALUES('joint','acme','E3',3,'NAME','Acme & Borealis','["Acme", "Borealis"]',2.17047214362229515943e-04,NULL,NULL,NULL,'["m1", "m2"]','asserted');
INSERT INTO "slot_values" VALUES('monday','tarboro','E1',0,'FACILITY','DEPOT','"DEPOT"',9.99999999999999888977e-01,NULL,NULL,NULL,'["T1", "T2", "T3"]','asserted');
INSERT INTO "slot_values" VALUES('monday','tarboro','E1',1,'NUMBER','1',1,9.99999999999999888977e-01,NULL,NULL,NULL,'["T1", "T2", "T3"]','asserted');
INSERT INTO "slot_values" VALUES('monday','tarboro','E1',2,'LOCATION','TARBORO','"TARBORO"',9.99999999999999888977e-01,NULL,NULL,NULL,'["T1", "T2"]','asserted');
INSERT INTO "slot_values" VALUES('monday','tarboro','E1',3,'TYPE','FUEL','"FUEL"',9.99999999999999888977e-01,NULL,NULL,NULL,'["T1", "T2"]','asserted');
INSERT INTO "slot_values" VALUES('monday','tarboro','E2',0,'FACILITY','STORAGE TANK','"STORAGE TANK"',1.0,NULL,NULL,NULL,'["T4"]','asserted');
INSERT INTO "slot_values" VALUES('monday','tarboro','E2',1,'NUMBER','9',9,1.0,NULL,NULL,NULL,'["T4"]','asserted');
CREATE TABLE templates (
	run TEXT NOT NULL, 
	message TEXT NOT NULL, 
	template TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	set_name TEXT, 
	text TEXT NOT NULL, 
	start_at INTEGER NOT NULL, 
	end_at INTEGER NOT NULL, 
	region TEXT NOT NULL, 
	sentence INTEGER NOT NULL, 
	sort TEXT NOT NULL, 
	head TEXT NOT NULL, 
	number JSON, 
	form TEXT NOT NULL, 
	slots JSON NOT NULL, 
	rule TEXT NOT NULL, 
	context JSON NOT NULL, 
	PRIMARY KEY (run, message, template), 
	FOREIGN KEY(run, message) REFERENCES messages (run, message) ON DELETE CASCADE, 
	FOREIGN KEY(run, set_name) REFERENCES sets (run, set_name) ON DELETE CASCADE
);
INSERT INTO "templates" VALUES('monday','tarboro','T1',0,'tarboro.1','Tarboro Fuel Depot',6,24,'subject',0,'DEPOT','depot','"singular"','bare','{"FACILITY": "DEPOT", "NUMBER": 1, "LOCATION": "TARBORO", "TYPE": "FUEL"}','facility, place in the group','{"MODIFIERS": ["tarboro", "fuel"], "WORDS": ["tarboro", "fuel", "depot"], "ROLE": "other", "PARAGRAPH": 0}');
INSERT INTO "templates" VALUES('monday','tarboro','T2',1,'tarboro.1','A fuel depot',26,38,'text',1,'DEPOT','depot','"singular"','indefinite','{"FACILITY": "DEPOT", "NUMBER": 1, "LOCATION": "TARBORO", "TYPE": "FUEL"}','found in a place, facility','{"MODIFIERS": ["fuel"], "WORDS": ["a", "fuel", "depot"], "DETERMINER": "a", "ROLE": "subject", "PARAGRAPH": 1}');
INSERT INTO "templates" VALUES('monday','tarboro','T3',2,'tarboro.1','The depot',68,77,'text',2,'DEPOT','depot','"singular"','definite','{"FACILITY": "DEPOT", "NUMBER": 1}','facility','{"WORDS": ["the", "depot"], "DETERMINER": "the", "ROLE": "subject", "PARAGRAPH": 1}');
INSERT INTO "templates" VALUES('monday','tarboro','T4',3,NULL,'nine storage tanks',84,102,'text',2,'STORAGE TANK','tank',9,'indefinite','{"FACILITY": "STORAGE TANK", "NUMBER": 9}','facility','{"MODIFIERS": ["storage"], "WORDS": ["nine", "storage", "tanks"], "ROLE": "object", "PART_OF": ["T3"], "PARAGRAPH": 1}');
INSERT INTO "templates" VALUES('joint','acme','m1',0,'acme.1','Acme',0,4,'text',0,'abstract','acme','"singular"','name','{"NAME": "Acme"}','general','{"ROLE": "subject", "PARAGRAPH": 0, "WORDS": ["acme"], "HEAD_SPAN": [0, 4], "GOVERNOR": "buy", "SORT_PROBABILITIES": {"abstract": 0.2555130372911542, "animal": 0.0008864933294715933, "event": 0.037376018245382704, "object": 0.06785953124501863, "organization": 0.1642400220829733, "person": 0.23249704525640683, "place": 0.19751805950556048, "plant": 0.004932311538692689, "substance": 0.03534828473960277, "time": 0.0038291967657368086}, "MENTION_PROBABILITY": 0.8923870030891504}');
INSERT INTO "templates" VALUES('joint','acme','m2',1,'acme.1','Borealis',12,20,'text',0,'person','borealis','"singular"','name','{"NAME": "Borealis"}','general','{"ROLE": "object", "PARAGRAPH": 0, "WORDS": ["borealis"], "HEAD_SPAN": [12, 20], "GOVERNOR": "buy", "SORT_PROBABILITIES": {"abstract": 0.1734139075098748, "animal": 0.004386497909658576, "event": 0.031034550439645377, "object": 0.04337041612915557, "organization": 0.1810165568914237, "person": 0.28771967264077836, "place": 0.25624579250532925, "plant": 0.0047387064153864185, "substance": 0.01644586414334917, "time": 0.001628035415398724}, "MENTION_PROBABILITY": 0.7932216548762004}');
INSERT INTO "templates" VALUES('joint','acme','m3',2,'acme.1','It',22,24,'text',1,'abstract','it','"singular"','pronoun','{}','general','{"PERSON": "3", "GENDER": "neut", "ROLE": "subject", "PARAGRAPH": 0, "WORDS": ["it"], "HEAD_SPAN": [22, 24], "GOVERNOR": "pay", "SORT_PROBABILITIES": {"abstract": 0.3334630411905109, "animal": 0.023927484228354095, "event": 0.17295843956675241, "object": 0.08197918967971016, "organization": 0.19420239109514698, "person": 0.045934558793161155, "place": 0.06643473091665807, "plant": 0.012199368222838541, "substance": 0.0447670960870771, "time": 0.024133700219790683}, "MENTION_PROBABILITY": 0.8991727962478049}');
INSERT INTO "templates" VALUES('joint','acme','m4',3,'acme.1','cash',33,37,'text',1,'object','cash','"singular"','bare','{}','general','{"ROLE": "oblique", "PARAGRAPH": 0, "WORDS": ["cash"], "HEAD_SPAN": [33, 37], "GOVERNOR": "pay", "SORT_PROBABILITIES": {"abstract": 0.2180547474465676, "animal": 0.007352751123337983, "event": 0.07556078596433978, "object": 0.34957766662342143, "organization": 0.04856936181009351, "person": 0.013178845775032071, "place": 0.18764855806342456, "plant": 0.005149731046540662, "substance": 0.052020844488480066, "time": 0.04288670765876246}, "MENTION_PROBABILITY": 0.6158054067217146}');
CREATE INDEX messages_in_order ON messages (run, position);
CREATE INDEX sets_of_messages ON sets (run, message);
CREATE INDEX templates_of_sets ON templates (run, set_name);
CREATE INDEX entities_by_sort ON entities (run, sort);
CREATE INDEX entities_of_sets ON entities (run, set_name);
CREATE INDEX keys_of_sets ON keys (run, set_name);
COMMIT;
