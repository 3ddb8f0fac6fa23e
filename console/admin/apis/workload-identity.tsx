import { TextInput } from '@mantine/core';
import { useMemo } from 'react';
import type { ClientPartProps } from '../clients/client-part.ts';
import { useClientForm } from '../clients/use-client-form.ts';
import { t } from '../language/language.ts';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { Section } from '../ui/layout/page.tsx';

const valuesOf = ({ workloadIssuer, workloadSubject, workloadAudience }: ClientPartProps['client']) => ({
  workloadIssuer: workloadIssuer ?? '',
  workloadSubject: workloadSubject ?? '',
  workloadAudience: workloadAudience ?? '',
});

type Values = ReturnType<typeof valuesOf>;

/** The tokens of a CI job or service account that authenticate the application instead of a key. */
export function WorkloadIdentity({ client, mayChange }: ClientPartProps) {
  const saved = useMemo(() => valuesOf(client), [client]);
  const takesKeys = client.tokenEndpointAuthMethod === 'PRIVATE_KEY_JWT';
  const form = useClientForm(client, mayChange, saved, (edits) => ({
    ...Object.fromEntries(Object.entries(edits).map(([name, value]) => [name, value.trim() || null])),
    ...(takesKeys ? {} : { tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT' as const }),
  }));
  const filled = Object.values(form.values).filter((value) => value.trim() !== '').length;
  const isPartial = filled > 0 && filled < 3;
  const input = (name: keyof Values, placeholder: string) => {
    const { error, ...field } = form.field(name);
    const isMissing = isPartial && form.values[name].trim() === '';
    return (
      <TextInput
        label={labels[name]}
        placeholder={placeholder}
        maw="36rem"
        spellCheck={false}
        {...field}
        error={error ?? (isMissing ? t('Fill in all three, or none.') : undefined)}
      />
    );
  };
  return (
    <>
      <Section
        title={t('Workload identity')}
        lead={t(
          'A CI job or service account authenticates with the token of its platform, without a secret. All three values must match the token exactly.',
        )}
      >
        {input('workloadIssuer', 'https://token.actions.githubusercontent.com')}
        {input('workloadSubject', 'repo:acme/app:environment:production')}
        {input('workloadAudience', 'https://id.example.com/p/acme')}
      </Section>
      <SaveBar
        form={form}
        labels={labels}
        describe={(name, values) => values[name]}
        consequence={
          filled === 0
            ? t('Tokens of its workload are refused.')
            : takesKeys
              ? undefined
              : t('Its secrets and requests without a credential are refused from now on.')
        }
        isInvalid={isPartial}
      />
    </>
  );
}

const labels: Record<keyof Values, string> = {
  workloadIssuer: t('Workload issuer'),
  workloadSubject: t('Workload subject'),
  workloadAudience: t('Workload audience'),
};
