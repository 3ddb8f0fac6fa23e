// Written by npm run gen from console/signin/messages. Do not edit.
// biome-ignore-all format: generated
/** Languages of pages and messages (BCP 47), English first. */
export const locales = ['en', 'de', 'es', 'fr', 'ja', 'ar', 'cs', 'da', 'fi', 'he', 'it', 'ko', 'nb', 'nl', 'pl', 'pt-BR', 'sv', 'tr', 'zh-Hans'] as const;

/** Label of a "Continue" button. */
export const continueLabels = {
  'en': "Continue",
  'de': "Weiter",
  'es': "Continuar",
  'fr': "Continuer",
  'ja': "続ける",
  'ar': "متابعة",
  'cs': "Pokračovat",
  'da': "Fortsæt",
  'fi': "Jatka",
  'he': "המשך",
  'it': "Continua",
  'ko': "계속",
  'nb': "Fortsett",
  'nl': "Doorgaan",
  'pl': "Dalej",
  'pt-BR': "Continuar",
  'sv': "Fortsätt",
  'tr': "Devam et",
  'zh-Hans': "继续",
};
