// Written by npm run gen from console/signin/messages. Do not edit.
// biome-ignore-all format: generated
/** Languages of pages and messages (BCP 47). */
export const pageLanguages = ['en', 'de', 'es', 'fr', 'ja', 'ar', 'cs', 'da', 'fi', 'he', 'it', 'ko', 'nb', 'nl', 'pl', 'pt-BR', 'sv', 'tr', 'zh-Hans'] as const;
