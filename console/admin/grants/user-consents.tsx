import {
  AuditEvents,
  RefreshGrants,
  RevokeConsent,
  UserAccess,
  type UserAccessQuery,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Consent = UserAccessQuery['userAccess']['consents'][number];

interface UserConsentsProps {
  user: string;
  consents: readonly Consent[] | undefined;
  mayChange: boolean;
}

/** A user's consents to third-party applications; renders nothing for a user without consents. */
export function UserConsents({ user, consents, mayChange }: UserConsentsProps) {
  const path = useProjectPath();
  const [dialog, { confirm }] = useDialog();
  if (!consents?.length) return null;
  const revoke = ({ id, client: { name } }: Consent) =>
    confirm({
      title: t('Revoke the consent for {name}?', { name }),
      effect: (
        <p>
          {t(
            '{name} loses its tokens and can no longer read the data of {user}. At the next sign-in the user is asked again.',
            { name, user },
          )}
        </p>
      ),
      verb: t('Revoke'),
      request: request(RevokeConsent, { id }),
      invalidates: [UserAccess, RefreshGrants, AuditEvents],
      done: t('Consent revoked'),
    });
  const columns: Columns<Consent> = [
    { header: t('Application'), isName: true, width: '26%', cell: ({ client }) => client.name },
    { header: t('Scopes'), cell: ({ scopes }) => scopes.join(' ') },
    { header: t('Allowed'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: t('Changed'), cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    mayChange &&
      actionColumn(t('Revoke'), ({ client }) => t('Revoke the consent for {name}', { name: client.name }), revoke),
  ];
  return (
    <TableSection
      title={t('Consents')}
      lead={t('Third-party applications that the user allowed.')}
      columns={columns}
      rows={consents}
      linkOf={({ client }) => path(`applications/${client.id}`)}
      empty={null}
    >
      {dialog}
    </TableSection>
  );
}
