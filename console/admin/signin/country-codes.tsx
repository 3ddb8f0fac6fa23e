import { locale, t } from '../language/language.ts';
import { ListInput } from '../ui/forms/list-input.tsx';

const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' });

/** "Germany (DE)"; the code alone if unknown. */
export function countryName(code: string): string {
  const name = /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined;
  return name === undefined ? code : `${name} (${code})`;
}

interface CountryCodesProps {
  value: readonly string[];
  onChange(codes: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** Input for country codes, with their names below. */
export function CountryCodes({ value: codes, error, ...props }: CountryCodesProps) {
  const unknown = codes.filter((code) => !/^[A-Z]{2}$/.test(code) || names.of(code) === undefined);
  return (
    <ListInput
      label={t('Allowed countries')}
      description={
        codes.length === 0 ? t('Two-letter codes. Empty: every country.') : codes.map(countryName).join(', ')
      }
      placeholder="DE, SE, US"
      fold={(text) => text.toUpperCase()}
      value={codes}
      error={error ?? (unknown.length > 0 ? t('Unknown code: {codes}', { codes: unknown.join(', ') }) : undefined)}
      {...props}
    />
  );
}
