import { Alert, Textarea } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useQuery } from '../api.ts';
import { PasskeyModelStanding, type PasskeyModelStandingQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { monospace, verbatim } from '../ui/forms/verbatim.ts';
import type { FactorValues } from './factor-values.ts';

type Lists = Pick<FactorValues, 'passkeyAaguids' | 'passkeyRoots'>;

interface ListProps {
  value: readonly string[];
  onChange(values: string[]): void;
  error: string | undefined;
  disabled: boolean;
}

const aaguidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

const linesIn = (text: string) => [
  ...new Set(
    text
      .split(/[\n,;]+/)
      .map((line) => line.trim())
      .filter(Boolean)
      .map((line) => (aaguidForm.test(line) ? line.toLowerCase() : line)),
  ),
];

/** Certificates, then the invalid text. */
function certificatesIn(text: string): string[] {
  const rest = text.replace(pemBlock, '').trim();
  return [...(text.match(pemBlock) ?? []), ...(rest ? [rest] : [])];
}

const isCertificate = (text: string) => text.startsWith('-----BEGIN CERTIFICATE-----');

/** Validation errors of the lists. */
function faultsOf({ passkeyAaguids, passkeyRoots }: Lists): { aaguids?: string; roots?: string } {
  const wrong = passkeyAaguids.filter((one) => !aaguidForm.test(one));
  return {
    ...(wrong.length > 0 && { aaguids: t('Not an AAGUID: {wrong}', { wrong: wrong.join(', ') }) }),
    ...(!passkeyRoots.every(isCertificate) && { roots: t('Only certificates in PEM.') }),
  };
}

export const areModelsInvalid = (values: FactorValues) => Object.keys(faultsOf(values)).length > 0;

/** Models of passkeys that users may create, with the certificates that prove them. */
export function PasskeyModels({ aaguids, roots }: { aaguids: ListProps; roots: ListProps }) {
  const faults = faultsOf({ passkeyAaguids: [...aaguids.value], passkeyRoots: [...roots.value] });
  const isLimited = aaguids.value.length > 0 || roots.value.length > 0;
  return (
    <>
      <List
        label={t('Allowed models of passkeys')}
        hint={t('AAGUIDs, one per line. Empty: every model, or every model of the roots below.')}
        placeholder="2fc0579f-8113-47ea-b116-bb5a8db9202a"
        split={linesIn}
        {...{ ...aaguids, error: aaguids.error ?? faults.aaguids }}
      />
      <List
        label={t('Root certificates')}
        hint={t('CA certificates of the makers in PEM. They prove the model of a new passkey.')}
        placeholder="-----BEGIN CERTIFICATE-----"
        split={certificatesIn}
        {...{ ...roots, error: roots.error ?? faults.roots }}
      />
      {isLimited && (
        <Alert>
          {t('Synced passkeys of phones and browsers prove no model: users cannot create them.')}
          {roots.value.length === 0 &&
            ` ${t('Without root certificates, the model is an unverified claim of the authenticator.')}`}
        </Alert>
      )}
    </>
  );
}

interface ListInput extends ListProps {
  label: string;
  hint: string;
  placeholder: string;
  split(text: string): string[];
}

/** Values of a list as one text. */
function List({ label, hint, placeholder, split, value, onChange, error, disabled }: ListInput) {
  const [text, setText] = useState(() => value.join('\n'));
  useEffect(() => {
    // Changed from outside, for example by "Discard".
    if (split(text).join() !== value.join()) setText(value.join('\n'));
  }, [value]);
  return (
    <Textarea
      label={label}
      description={hint}
      placeholder={placeholder}
      styles={monospace}
      autosize
      minRows={2}
      maxRows={8}
      {...verbatim}
      {...{ error, disabled }}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange(split(event.currentTarget.value));
      }}
    />
  );
}

type Usage = PasskeyModelStandingQuery['passkeyModelStanding'];

/** The users whom the edited lists would affect; undefined: nothing is edited, or not known yet. */
export function useModelUsage(projectId: string, saved: Lists, values: FactorValues): Usage | undefined {
  const { passkeyAaguids: aaguids, passkeyRoots: roots } = values;
  const isEdited = aaguids.join() !== saved.passkeyAaguids.join() || roots.join() !== saved.passkeyRoots.join();
  const pause = !isEdited || areModelsInvalid(values);
  const { data } = useQuery(PasskeyModelStanding, { projectId, aaguids, roots }, { pause });
  return pause ? undefined : data?.passkeyModelStanding;
}

/** The effect of saving the lists. */
export function modelConsequence(saved: Lists, values: Lists, others: Usage | undefined): string | undefined {
  const limits = ({ passkeyAaguids, passkeyRoots }: Lists) => [...passkeyAaguids, ...passkeyRoots].join();
  if (limits(saved) === limits(values)) return undefined;
  if (limits(values) === '') return t('Users can create passkeys of every model.');
  const users = others?.usersWithOthers;
  if (!users) return t('New passkeys must prove one of these models.');
  const only = others.usersWithOnlyOthers;
  if (only === users) {
    return t(
      'New passkeys must prove one of these models. {users, plural, one {# user has other passkeys only} other {# users have other passkeys only}}: they stay usable until you revoke them.',
      { users },
    );
  }
  if (only > 0) {
    return t(
      'New passkeys must prove one of these models. {users, plural, one {# user has other passkeys} other {# users have other passkeys}} ({only} no allowed one): they stay usable until you revoke them.',
      { users, only },
    );
  }
  return t(
    'New passkeys must prove one of these models. {users, plural, one {# user has other passkeys} other {# users have other passkeys}}: they stay usable until you revoke them.',
    { users },
  );
}
