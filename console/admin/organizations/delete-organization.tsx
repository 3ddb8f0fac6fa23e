import { useState } from 'react';
import { useMutation, useQuery } from '../api.ts';
import { DeleteOrganization, OrganizationHome } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { atLeast } from '../ui/counted.ts';
import { Question } from '../ui/feedback/confirm.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { Radios } from '../ui/forms/radios.tsx';
import type { Organization } from './organization-part.ts';
import { stale } from './stale.ts';

const choices = {
  MOVE: { name: t('Move them to the project'), hint: t('They keep their accounts and sign-ins.') },
  ERASE: { name: t('Erase them'), hint: t('Their accounts and data are deleted permanently.') },
} as const;

interface DeleteOrganizationProps {
  organization: Organization;
  onDone(): void;
  onClose(): void;
}

/** Asks before the deletion, and what becomes of users at home in the organization. */
export function DeleteOrganizationForm({ organization, onDone, onClose }: DeleteOrganizationProps) {
  const { id, name, memberCount, isMemberCountLimited } = organization;
  const { id: projectId } = useProject();
  const { data, failure } = useQuery(OrganizationHome, { projectId, organizationId: id });
  const [people, setPeople] = useState<keyof typeof choices>('MOVE');
  const [mutate, busy, refused] = useMutation(DeleteOrganization, stale);
  const home = data?.users;
  if (failure) return <FormError failure={failure} />;
  if (!home) return <LinesSkeleton />;
  const hasPeople = home.totalCount > 0;
  const graphql = request(DeleteOrganization, { input: { id, ...(hasPeople && { people }) } });
  const run = async () => {
    const { data: deleted } = await mutate(graphql.variables as Parameters<typeof mutate>[0]);
    if (!deleted) return;
    toast(t('{name} deleted', { name }));
    onClose();
    onDone();
  };
  return (
    <Question
      title={t('Delete {name}?', { name })}
      verb={t('Delete organization')}
      {...{ name, busy, graphql, onClose }}
      failure={refused}
      onConfirm={() => void run()}
    >
      <p>{t('This cannot be undone. You will lose:')}</p>
      <ul>
        <li>
          {rich(
            '<strong>{shown}</strong> {count, plural, one {membership with its roles} other {memberships with their roles}}',
            { shown: atLeast(memberCount, isMemberCountLimited), count: memberCount },
          )}
        </li>
        <li>{t('the access of members to applications that the organization gave')}</li>
        <li>{t('its settings, metadata, domains, invitations and connections')}</li>
      </ul>
      {hasPeople && (
        <>
          <p>
            {rich(
              '<strong>{shown}</strong> {count, plural, one {user is} other {users are}} at home in the organization:',
              { shown: atLeast(home.totalCount, home.isTotalLimited), count: home.totalCount },
            )}
          </p>
          <Radios
            label={t('Users at home in the organization')}
            options={choices}
            value={people}
            onChange={setPeople}
          />
        </>
      )}
    </Question>
  );
}
