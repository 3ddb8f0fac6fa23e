import { Badge, Group } from '@mantine/core';
import { lazy } from 'react';
import type { Client } from '../clients/client-part.ts';
import { AccessToClient, type AccessToClientQuery, AuditEvents, RevokeAccess } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { atLeast } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { PageButtons } from '../ui/lists/page-buttons.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

const GrantAccessForm = lazy(async () => ({ default: (await import('./grant-access.tsx')).GrantAccessForm }));

type Rules = AccessToClientQuery['accessRules'];
type Rule = Rules['edges'][number]['node'];

interface AccessRulesProps {
  client: Client;
  mayChange: boolean;
  /** Undefined while loading. */
  page: Rules | undefined;
  after: string | null;
  onPage(after: string | null): void;
}

/** The rules that give access to an application. */
export function AccessRules({ client, mayChange, page, after, onPage }: AccessRulesProps) {
  const path = useProjectPath();
  const [dialog, { open, confirm }] = useDialog();
  const isAssigned = client.access === 'ASSIGNED';
  const grant = () =>
    open(t('Give access to {name}', { name: client.name }), (close) => (
      <GrantAccessForm clientId={client.id} onClose={close} />
    ));
  const revoke = (rule: Rule) =>
    confirm({
      title: t('Remove the access of {name}?', { name: nameOf(rule) }),
      effect: (
        <p>
          {isAssigned
            ? t('Users without another rule are refused at once and signed out of this application.')
            : t('No effect while everyone in the project has access.')}
        </p>
      ),
      verb: t('Remove access'),
      request: request(RevokeAccess, { id: rule.id }),
      invalidates: [AccessToClient, AuditEvents],
      done: t('Access removed'),
    });
  const columns: Columns<Rule> = [
    { header: t('Name'), isName: true, width: '34%', cell: nameOf },
    { header: t('Kind'), cell: (rule) => <Kind rule={rule} /> },
    { header: t('Gives access to'), cell: reachOf },
    { header: t('Since'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    mayChange && actionColumn(t('Remove'), (rule) => t('Remove {name}', { name: nameOf(rule) }), revoke),
  ];
  return (
    <TableSection
      title={t('Assigned')}
      lead={
        isAssigned
          ? t('Users need one of these: directly, by a group, an organization, or a role of this application.')
          : t('Takes effect once only assigned users may use the application.')
      }
      actions={
        mayChange && (
          <AddButton variant="default" onClick={grant}>
            {t('Give access')}
          </AddButton>
        )
      }
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      linkOf={(rule) => path(placeOf(rule, client.id))}
      skeletonRows={2}
      empty={
        <Empty icon="users" title={t('Not assigned yet')}>
          {!isAssigned && t('Give access before you switch to assigned users.')}
        </Empty>
      }
    >
      <PageButtons after={after} pageInfo={page?.pageInfo} onChange={onPage} />
      {dialog}
    </TableSection>
  );
}

function placeOf({ user, group, organization }: Rule, clientId: string): string {
  if (user) return `users/${user.id}`;
  if (group) return `groups/${group.id}`;
  return organization ? `organizations/${organization.id}` : `applications/${clientId}/roles`;
}

function Kind({ rule: { user, group, organization } }: { rule: Rule }) {
  if (group) return <Badge color="accent">{t('Group')}</Badge>;
  if (organization) return <Badge color="accent">{t('Organization')}</Badge>;
  if (!user) return <Badge color="note">{t('Role')}</Badge>;
  return (
    <Group gap="xs" display="inline-flex">
      <Badge>{t('User')}</Badge>
      {!user.active && <Badge color="bad">{t('Deactivated')}</Badge>}
    </Group>
  );
}

const nameOf = ({ user, group, organization, role }: Rule) =>
  user?.displayName ?? user?.userName ?? group?.displayName ?? organization?.name ?? role?.name ?? '';

function reachOf({ user, group: one, organization, role }: Rule): string {
  if (user) return t('This user');
  const group = one ?? organization;
  if (group) return t('Members: {count}', { count: atLeast(group.memberCount, group.isMemberCountLimited) });
  return t('{users, plural, one {# user} other {# users}} and {groups, plural, one {# group} other {# groups}}', {
    ...{ users: role?.userCount ?? 0, groups: role?.groupCount ?? 0 },
  });
}
