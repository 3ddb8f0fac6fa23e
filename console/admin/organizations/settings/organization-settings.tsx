import { Switch, Textarea, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { UpdateOrganization } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject } from '../../projects/project.tsx';
import { Duration, formatDuration } from '../../ui/forms/duration.tsx';
import { pick } from '../../ui/forms/pick.ts';
import { Radios } from '../../ui/forms/radios.tsx';
import { SaveBar } from '../../ui/forms/save-bar.tsx';
import { type SettingsForm, useSettingsForm } from '../../ui/forms/settings-form.ts';
import { monospace, verbatim } from '../../ui/forms/verbatim.ts';
import { Section } from '../../ui/layout/page.tsx';
import type { Organization, OrganizationPartProps } from '../organization-part.ts';
import { RoleChoice } from '../role-choice.tsx';
import { stale } from '../stale.ts';
import { metadataOf, shownMetadata } from './metadata.ts';

const example = JSON.stringify({ plan: 'pro' });

const policies = {
  PROJECT: { name: t('As in the project'), hint: t('The policy of the project applies.') },
  REQUIRED: {
    name: t('Required'),
    hint: t('Members need a second factor, even where the project does not ask for one.'),
  },
} as const;

const signIns = {
  ANY: { name: t('Any method of the project'), hint: t('Connections of the organization are offered first.') },
  CONNECTION: {
    name: t('Only its connections'),
    hint: t('Also for people with an address in its mail domains. Test a connection first.'),
  },
} as const;

const labels: Record<keyof Values, string> = {
  name: t('Name'),
  slug: t('Slug'),
  signIn: t('Sign-in method'),
  fallback: t('Mail code if the provider is down'),
  mfaPolicy: t('Second factor'),
  idleTimeoutSeconds: t('Idle timeout'),
  maxSessionSeconds: t('Longest session'),
  defaultRoleKeys: t('Default roles'),
  metadata: t('Metadata'),
};

const valuesOf = (organization: Organization) => ({
  ...pick(organization, 'name', 'slug', 'signIn', 'fallback', 'idleTimeoutSeconds', 'maxSessionSeconds'),
  mfaPolicy: organization.mfaPolicy ?? ('PROJECT' as const),
  defaultRoleKeys: organization.defaultRoles.map(({ key }) => key),
  metadata: shownMetadata(organization.metadata ?? {}),
});

type Values = ReturnType<typeof valuesOf>;

function inputOf({ mfaPolicy, metadata, ...edits }: Partial<Values>) {
  return {
    ...edits,
    ...(mfaPolicy && { mfaPolicy: mfaPolicy === 'PROJECT' ? null : mfaPolicy }),
    ...(metadata !== undefined && { metadata: metadataOf(metadata) ?? {} }),
  };
}

/** Name, rules and data of an organization. */
export function OrganizationSettings({ organization, mayChange }: OrganizationPartProps) {
  const saved = useMemo(() => valuesOf(organization), [organization]);
  const form = useSettingsForm({
    saved,
    mayChange,
    operation: UpdateOrganization,
    variables: (edits) => ({ input: { id: organization.id, ...inputOf(edits) } }),
    invalidates: stale,
  });
  const metadata = form.field('metadata');
  const metadataFault = metadataOf(metadata.value)
    ? undefined
    : t('Must be a JSON object, such as {example}', { example });
  const { error: _, ...mfaPolicy } = form.field('mfaPolicy');
  const { error: __, ...signIn } = form.field('signIn');
  return (
    <>
      <Section title={t('Basics')}>
        <TextInput label={t('Name')} maw="28rem" maxLength={100} {...form.field('name')} />
        <TextInput
          label={t('Slug')}
          description={t('Applications name the organization by it in sign-in requests: change them together.')}
          maw="28rem"
          maxLength={63}
          {...verbatim}
          {...form.field('slug')}
        />
        <RoleChoice
          label={t('Default roles')}
          description={t('New members get them if no others are named.')}
          maw="28rem"
          {...form.field('defaultRoleKeys')}
        />
      </Section>
      <Section title={t('Sign-in')}>
        <Radios label={labels.signIn} options={signIns} {...signIn} />
        {form.values.signIn === 'CONNECTION' && (
          <Switch
            label={labels.fallback}
            description={t('Or a passkey, while the provider cannot be reached. Off: people wait.')}
            {...form.toggle('fallback')}
          />
        )}
      </Section>
      <Section title={t('Second factor')} lead={t('Rules of an organization add to those of the project.')}>
        <Radios label={t('Second factor')} options={policies} {...mfaPolicy} />
      </Section>
      <Section title={t('Sessions')} lead={t('For sign-ins in this organization.')}>
        <Limit form={form} name="idleTimeoutSeconds" hint={t('Ends after this much inactivity.')} />
        <Limit form={form} name="maxSessionSeconds" hint={t('Ends after this time, even if active.')} />
      </Section>
      <Section title={t('Metadata')} lead={t('For your own systems. At most 4 KB; users do not see it.')}>
        <Textarea
          aria-label={t('Metadata')}
          description={t('A JSON object')}
          placeholder={example}
          autosize
          minRows={3}
          maxRows={16}
          {...verbatim}
          styles={monospace}
          {...metadata}
          error={metadataFault ?? metadata.error}
        />
      </Section>
      <SaveBar
        form={form}
        labels={labels}
        describe={describe}
        consequence={consequence(saved, form.values)}
        isInvalid={metadataFault !== undefined}
      />
    </>
  );
}

interface LimitProps {
  form: SettingsForm<Values>;
  name: 'idleTimeoutSeconds' | 'maxSessionSeconds';
  hint: string;
}

/** A limit of sessions in this organization, or the project's. */
function Limit({ form, name, hint }: LimitProps) {
  const standard = useProject()[name];
  const { value, onChange, disabled, error } = form.field(name);
  const duration = formatDuration(standard);
  const label = labels[name];
  return (
    <>
      <Switch
        label={t('{label}: project default ({duration})', { label, duration })}
        checked={value === null}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked ? null : standard)}
      />
      {value !== null && (
        <Duration
          {...{ label, value, onChange, disabled, error }}
          hint={value < standard ? hint : t('No effect: the project ends sessions after {duration}.', { duration })}
        />
      )}
    </>
  );
}

function describe(name: keyof Values, from: Values): string | readonly string[] {
  if (name === 'signIn') return signIns[from.signIn].name;
  if (name === 'fallback') return from.fallback ? t('On') : t('Off');
  if (name === 'mfaPolicy') return policies[from.mfaPolicy].name;
  if (name === 'idleTimeoutSeconds' || name === 'maxSessionSeconds') {
    const seconds = from[name];
    return seconds === null ? policies.PROJECT.name : formatDuration(seconds);
  }
  return from[name];
}

/** The effect of saving. */
function consequence(saved: Values, values: Values): string | undefined {
  return values.signIn === 'CONNECTION' && saved.signIn === 'ANY'
    ? t('Members who did not sign in by a connection of the organization must sign in again in it.')
    : undefined;
}
