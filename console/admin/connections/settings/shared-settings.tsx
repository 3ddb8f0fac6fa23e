import { Switch, TextInput } from '@mantine/core';
import { t } from '../../language/language.ts';
import type { SettingsForm } from '../../ui/forms/settings-form.ts';
import { monospace, verbatim } from '../../ui/forms/verbatim.ts';
import { Section } from '../../ui/layout/page.tsx';
import type { Connection } from '../connection-part.ts';
import { attributeNames, attributes, type SharedValues } from './settings-values.ts';

/** Labels of the settings that connections of all kinds have. */
export const sharedLabels: Record<keyof SharedValues, string> = {
  name: t('Name'),
  jit: t('Create accounts'),
  refreshesProfile: t('Update profiles'),
  ...attributes,
};

export function NameSection<V extends SharedValues>({ form }: { form: SettingsForm<V> }) {
  return (
    <Section title={t('Basics')}>
      <TextInput
        label={t('Name')}
        description={t('On the sign-in page: “Continue with {name}”.', { name: form.values.name })}
        maw="28rem"
        maxLength={100}
        {...form.field('name')}
      />
    </Section>
  );
}

interface UserSectionsProps<V extends SharedValues> {
  connection: Connection;
  form: SettingsForm<V>;
}

/** Accounts of users who sign in by it, and the mappings of their attributes. */
export function UserSections<V extends SharedValues>({ connection, form }: UserSectionsProps<V>) {
  const claim = { maw: '28rem', maxLength: 100, styles: monospace, ...verbatim };
  return (
    <>
      <Section title={t('Users')}>
        <Switch
          label={t('Create accounts')}
          description={
            connection.organization
              ? t(
                  'For new people: at home in the organization with an address in a verified domain of it, else as guests.',
                )
              : t('For new people whose address may sign up. Off: only existing users can sign in.')
          }
          {...form.toggle('jit')}
        />
        <Switch
          label={t('Update profiles')}
          description={t('At each sign-in. Off: only when the account is created. Directories take precedence.')}
          {...form.toggle('refreshesProfile')}
        />
      </Section>
      <Section
        title={t('Mappings')}
        lead={t('The claims that attributes of users are taken from. Empty: the attribute is not set.')}
      >
        {attributeNames.map((name) => (
          <TextInput key={name} label={attributes[name]} {...claim} {...form.field(name)} />
        ))}
      </Section>
    </>
  );
}
