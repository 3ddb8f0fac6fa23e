/** Props of an input whose text is used exactly as typed. */
export const verbatim = { spellCheck: false, autoCapitalize: 'none' } as const;

/** Styles of an input for a technical value. */
export const monospace = { input: { fontFamily: 'var(--mono)', fontSize: '0.8125rem' } };
