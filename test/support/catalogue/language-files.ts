/** Lines of a file. */
export const lines = (...all: string[]) => `${all.join('\n')}\n`

/** A platform in German, French and Arabic, with some English. */
export const languageFiles: Readonly<Record<string, string>> = {
  'organizations.csv': lines(
    'id,name,language,name@en,country',
    '7,Brunnen für alle e. V.,de,Wells for all,DE',
    '8,Écoles de Gulu,fr,,UG',
  ),
  'projects.csv': lines(
    'id,title,language,title@fr,title@AR,summary,Summary@fr,need,need@fr,longTermImpact,status,organization,countries,approvedDate,projectLink',
    '101,Brunnen für Tara,de,Des puits pour Tara,آبار لتارا,Vier Brunnen.,Quatre puits.,Kein Wasser.,Pas d’eau.,Gesundheit.,active,7,SL,2025-01-05,https://p.example/101',
    '102,Des bancs pour Gulu,fr-CA,,,Cent vingt bancs.,,,,,active,8,UG,2025-01-06,',
    '103,مدرسة عمان,ar,École d’Amman,,مدرسة,,,,,active,7,JO,2025-01-07,',
    '104,Desks for Gulu,,,,Desks.,,,,,active,7,UG,2025-01-08,',
    '105,Kisima cha Tara,sw,,,Kisima.,,,,,active,7,KE,2025-01-09,https://p.example/105',
  ),
  'gifts.csv': lines(
    'project,date,amount,currency,count',
    ...['101', '102', '103', '104', '105'].map((project) => `${project},2025-02-28,100.50,EUR,3`),
  ),
  'reports.csv': lines(
    'url,project,title,title@de,published,html,html@de,language',
    'https://p.example/r/1,101,The pump runs,Die Pumpe läuft,2025-06-01,<p>Water.</p>,<p>Wasser.</p><script>x</script>,en',
    'https://p.example/r/2,102,Les bancs sont là,,2025-06-02,<p>Bancs.</p>,,',
  ),
}

/** Texts of these records and the language of each; a theme that the service knows has a name in each language. */
export const languageTexts: readonly (readonly [text: string, language: string])[] = [
  ['Brunnen für Tara', 'de'],
  ['Des puits pour Tara', 'fr'],
  ['آبار لتارا', 'ar'],
  ['Vier Brunnen.', 'de'],
  ['Quatre puits.', 'fr'],
  ['Kein Wasser.', 'de'],
  ['Pas d’eau.', 'fr'],
  ['Gesundheit.', 'de'],
  ['Des bancs pour Gulu', 'fr'],
  ['Cent vingt bancs.', 'fr'],
  ['مدرسة عمان', 'ar'],
  ['École d’Amman', 'fr'],
  ['Desks for Gulu', 'en'],
  ['Desks.', 'en'],
  ['Kisima', 'sw'],
  ['Brunnen für alle e. V.', 'de'],
  ['Wells for all', 'en'],
  ['Écoles de Gulu', 'fr'],
  ['The pump runs', 'en'],
  ['Water.', 'en'],
  ['Les bancs sont là', 'fr'],
  ['Bancs.', 'fr'],
  ['Spenden im Monat', 'de'],
  ['3 dons en', 'fr'],
  ['3 donations in', 'en'],
  ['Einzelspenden über', 'de'],
  ['Dons de particuliers', 'fr'],
  ['Individual donors', 'en'],
]
