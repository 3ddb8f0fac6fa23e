import { Checkbox, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { part, usePrefetch, useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import {
  type ClaimSettingsInput,
  ClaimSettingsOf,
  type ClaimSettingsPartsFragment,
  ClientClaimsTab,
  SearchHolders,
  UpdateClaimSettings,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { pick } from '../ui/forms/pick.ts';
import { Radios } from '../ui/forms/radios.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { type SettingsForm, useSettingsForm } from '../ui/forms/settings-form.ts';
import { WholeNumber } from '../ui/forms/whole-number.tsx';
import { Section } from '../ui/layout/page.tsx';
import { ClaimPreview } from './claim-preview.tsx';
import { mappingOf, rowOf, textOf } from './mapping-row.ts';
import { Mappings } from './mappings.tsx';

/** Groups, roles and mapped claims of an application. */
export function ClientClaims({ client, mayChange }: ClientPartProps) {
  const holders = { projectId: useProject().id, search: '' };
  usePrefetch(ClientClaimsTab, { clientId: client.id, ...holders }, [
    part(ClaimSettingsOf, { clientId: client.id }),
    part(SearchHolders, holders),
  ]);
  const { data, failure, reload } = useQuery(ClaimSettingsOf, { clientId: client.id });
  const settings = data?.claimSettings;
  if (!settings)
    return failure ? <LoadError failure={failure} subject={t('claims')} retry={reload} /> : <PageSkeleton />;
  return <ClaimsForm settings={settings} mayChange={mayChange} />;
}

const valuesOf = (settings: ClaimSettingsPartsFragment) => ({
  ...pick(settings, 'groups', 'listLimit', 'rolesClaim', 'directoryRoles'),
  groupPrefix: settings.groupPrefix ?? '',
  mappings: settings.mappings.map(rowOf),
});

type Values = ReturnType<typeof valuesOf>;

function useClaimsForm(settings: ClaimSettingsPartsFragment, mayChange: boolean) {
  const { clientId, version } = settings;
  return useSettingsForm({
    saved: useMemo(() => valuesOf(settings), [settings]),
    mayChange,
    operation: UpdateClaimSettings,
    variables: (edits: Partial<Values>) => ({ input: { clientId, expectedVersion: version, ...inputOf(edits) } }),
    invalidates: [ClaimSettingsOf],
  });
}

function ClaimsForm({ settings, mayChange }: { settings: ClaimSettingsPartsFragment; mayChange: boolean }) {
  const form = useClaimsForm(settings, mayChange);
  return (
    <>
      <GroupsClaim form={form} />
      <RolesClaim form={form} />
      <Section
        title={t('Mapped claims')}
        lead={t('Further claims. Claims of OpenID Connect, such as sub and email, are reserved.')}
      >
        <Mappings {...form.field('mappings')} attributes={settings.attributes} disabled={!mayChange} />
      </Section>
      <ClaimPreview clientId={settings.clientId} draft={inputOf(form.values)} />
      <SaveBar
        form={form}
        labels={labels}
        describe={describe}
        consequence={t('Applies to tokens issued from now on.')}
      />
    </>
  );
}

interface PartProps {
  form: SettingsForm<Values>;
}

function GroupsClaim({ form }: PartProps) {
  return (
    <Section title={t('Groups')} lead={t("The groups claim lists the user's groups; it needs the groups scope.")}>
      <Radios label={t('Groups')} options={selections} {...form.field('groups')} />
      {form.values.groups === 'PREFIX' && (
        <TextInput
          label={t('Prefix')}
          description={t('Only groups whose names begin with it.')}
          maw="28rem"
          maxLength={100}
          spellCheck={false}
          {...form.field('groupPrefix')}
        />
      )}
      <WholeNumber
        label={t('Limit in ID tokens')}
        hint={t('Longer lists are only in UserInfo. The ID token refers to it (_claim_names).')}
        unit={t('entries')}
        bounds={[1, 1000]}
        {...form.field('listLimit')}
      />
    </Section>
  );
}

function RolesClaim({ form }: PartProps) {
  return (
    <Section title={t('Roles')} lead={t("The keys of the user's roles in this application; needs the roles scope.")}>
      <TextInput
        label={t('Roles claim')}
        description={t('Some applications expect another name.')}
        maw="28rem"
        maxLength={128}
        spellCheck={false}
        {...form.field('rolesClaim')}
      />
      <Checkbox
        label={t('Include roles of the directory')}
        description={t('The SCIM roles attribute, the same for all applications.')}
        {...form.toggle('directoryRoles')}
      />
    </Section>
  );
}

const selections = {
  ALL: { name: t('All groups') },
  ASSIGNED: { name: t('Groups with a role in this application') },
  PREFIX: { name: t('Groups by prefix') },
};

const labels: Record<keyof Values, string> = {
  groups: t('Groups'),
  groupPrefix: t('Prefix'),
  listLimit: t('Limit in ID tokens'),
  rolesClaim: t('Roles claim'),
  directoryRoles: t('Roles of the directory'),
  mappings: t('Mapped claims'),
};

function describe(name: keyof Values, from: Values): string | string[] {
  if (name === 'groups') return selections[from.groups].name;
  if (name === 'mappings') return from.mappings.map(textOf);
  if (name === 'directoryRoles') return from.directoryRoles ? t('Included') : t('Not included');
  return String(from[name]);
}

function inputOf({ mappings, groupPrefix, ...edits }: Partial<Values>): ClaimSettingsInput {
  return {
    ...edits,
    ...(groupPrefix === undefined ? {} : { groupPrefix }),
    ...(mappings ? { mappings: mappings.map(mappingOf) } : {}),
  };
}
