import { Alert } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { useClientForm } from '../clients/use-client-form.ts';
import { type ClientAccess as Access, AccessToClient, type AccessToClientQuery } from '../generated/operations.ts';
import { switches } from '../generated/switches.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { atLeast } from '../ui/counted.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { pick } from '../ui/forms/pick.ts';
import { Radios } from '../ui/forms/radios.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { labelsOf, SwitchList } from '../ui/forms/switches.tsx';
import { Section } from '../ui/layout/page.tsx';
import { AccessRules } from './access-rules.tsx';

const options = {
  EVERYONE: { name: t('Everyone in the project'), hint: t('All active users, also those added later.') },
  ASSIGNED: {
    name: t('Assigned users'),
    hint: t('Users, groups and roles below. Others see a page that says whom to ask.'),
  },
} as const;

/** The users who may use an application, and the rules that give them access. */
export function ClientAccess({ client, mayChange }: ClientPartProps) {
  const [after, setAfter] = useState<string | null>(null);
  const { data, failure, reload } = useQuery(AccessToClient, { clientId: client.id, after }, { keep: true });
  const { organizationsEnabled } = useProject();
  const saved = useMemo(() => pick(client, 'access', 'organizationRequired'), [client]);
  const form = useClientForm(client, mayChange, saved, (edits) => edits);
  const { error: _, ...access } = form.field('access');
  const isAssigned = client.access === 'ASSIGNED';
  if (failure && !data) return <LoadError failure={failure} subject={t('the access rules')} retry={reload} />;
  return (
    <>
      <Section
        title={t('Who may use this application')}
        lead={data ? t('Users who can sign in now: {count}', { count: shown(totalOf(data, client.access)) }) : '\u00a0'}
      >
        {isAssigned && data?.assigned.count === 0 && (
          <Alert color="note">
            {t('No one can sign in to this application. Give access to a group, role or user.')}
          </Alert>
        )}
        <Radios label={t('Who may use this application')} options={options} {...access} />
        {organizationsEnabled && <SwitchList of={switches.Client.organizations} form={form} />}
      </Section>
      <SaveBar
        form={form}
        labels={{ access: t('Who may use this application'), ...labelsOf(switches.Client.organizations) }}
        describe={(name, from) => (name === 'access' ? options[from.access].name : from[name] ? t('On') : t('Off'))}
        consequence={data && form.changed.includes('access') && consequenceOf(data, form.values.access)}
      />
      <AccessRules {...{ client, mayChange, after }} page={data?.accessRules} onPage={setAfter} />
    </>
  );
}

const totalOf = (data: AccessToClientQuery, access: Access) => (access === 'ASSIGNED' ? data.assigned : data.everyone);
const shown = ({ count, isLimited }: AccessToClientQuery['assigned']) => atLeast(count, isLimited);

function consequenceOf(data: AccessToClientQuery, access: Access): string {
  const [assigned, everyone] = [shown(data.assigned), shown(data.everyone)];
  return access === 'ASSIGNED'
    ? t('{assigned} of {everyone} users keep access. The others are signed out of this application.', {
        ...{ assigned, everyone },
      })
    : t('All {everyone} users get access.', { everyone });
}
