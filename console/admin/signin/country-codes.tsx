import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { locale, t } from '../language/language.ts';

const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' });

/** "Germany (DE)"; the code alone if unknown. */
export function countryName(code: string): string {
  const name = /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined;
  return name === undefined ? code : `${name} (${code})`;
}

const codesIn = (text: string) => [
  ...new Set(
    text
      .toUpperCase()
      .split(/[\s,;]+/)
      .filter(Boolean),
  ),
];

interface CountryCodesProps {
  value: readonly string[];
  onChange(codes: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** Input for country codes, with their names below. */
export function CountryCodes({ value: codes, onChange, error, disabled = false }: CountryCodesProps) {
  const [text, setText] = useState(() => codes.join(', '));
  useEffect(() => {
    // Changed from outside, for example by "Discard".
    if (codesIn(text).join() !== codes.join()) setText(codes.join(', '));
  }, [codes]);
  const unknown = codes.filter((code) => !/^[A-Z]{2}$/.test(code) || names.of(code) === undefined);
  return (
    <TextInput
      label={t('Allowed countries')}
      description={
        codes.length === 0 ? t('Two-letter codes. Empty: every country.') : codes.map(countryName).join(', ')
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder="DE, SE, US"
      value={text}
      disabled={disabled}
      error={error ?? (unknown.length > 0 ? t('Unknown code: {codes}', { codes: unknown.join(', ') }) : undefined)}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange(codesIn(event.currentTarget.value));
      }}
    />
  );
}
