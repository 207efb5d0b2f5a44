"""Companies, people, acquisitions and prices in business news: a domain of Partita."""
