import { Switch } from '@mantine/core';
import type { GrantType } from '../generated/operations.ts';
import { t } from '../language/language.ts';

/** Grants that an application can have in addition to authorization codes. */
const grants = {
  REFRESH_TOKEN: {
    name: t('Refresh tokens'),
    help: t(
      "At the project's issuer. The application can renew its access while the session lasts, and longer if it asks for the scope offline_access.",
    ),
  },
  CLIENT_CREDENTIALS: {
    name: t('Client credentials'),
    help: t("At the project's issuer. The application can get tokens for itself, for the APIs that it may use."),
  },
  TOKEN_EXCHANGE: {
    name: t('Token exchange'),
    help: t("At the project's issuer. The application exchanges a user's token for one of another API (RFC 8693)."),
  },
  JWT_BEARER: {
    name: t('Identity assertions'),
    help: t(
      "At the project's issuer. The application gets tokens for assertions of connections that accept them (ID-JAG).",
    ),
  },
  DEVICE_CODE: {
    name: t('Sign-in from devices'),
    help: t(
      "At the project's issuer, for TVs, command lines and others without a browser (RFC 8628). Risk: an attacker who gets a user to enter a code signs in as that user.",
    ),
  },
} as const satisfies Partial<Record<GrantType, object>>;

type Optional = keyof typeof grants;
const optional = Object.keys(grants) as Optional[];
const confidential: readonly Optional[] = ['CLIENT_CREDENTIALS', 'TOKEN_EXCHANGE', 'JWT_BEARER'];

interface GrantsProps {
  /** Public applications cannot act for themselves, nor exchange tokens or assertions. */
  isPublic: boolean;
  value: GrantType[];
  onChange(value: GrantType[]): void;
  disabled: boolean;
  error: string | undefined;
}

/** A switch for each grant. */
export function Grants({ isPublic, value, onChange, disabled, error }: GrantsProps) {
  const shown = optional.filter((grant) => !isPublic || !confidential.includes(grant));
  return shown.map((grant) => (
    <Switch
      key={grant}
      label={grants[grant].name}
      description={grants[grant].help}
      checked={value.includes(grant)}
      disabled={disabled}
      error={error}
      onChange={({ currentTarget: { checked } }) => onChange(withGrant(value, grant, checked))}
    />
  ));
}

/** In the order of the API; grants without a switch stay. */
function withGrant(value: GrantType[], grant: Optional, isOn: boolean): GrantType[] {
  const others = value.filter((one) => !(one in grants));
  return [...others, ...optional.filter((one) => (one === grant ? isOn : value.includes(one)))];
}

export function grantNames(value: readonly GrantType[]): string[] {
  return optional.filter((one) => value.includes(one)).map((one) => grants[one].name);
}
