import { useState } from 'react';
import {
  AuditEvents,
  RefreshGrants,
  RevokeConsent,
  UserAccess,
  type UserAccessQuery,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Columns, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Consent = UserAccessQuery['userAccess']['consents'][number];

interface UserConsentsProps {
  user: string;
  consents: readonly Consent[] | undefined;
  mayChange: boolean;
}

/** A user's consents to third-party applications; nothing for users without. */
export function UserConsents({ user, consents, mayChange }: UserConsentsProps) {
  const path = useProjectPath();
  const [revoking, setRevoking] = useState<Consent>();
  if (!consents?.length && !revoking) return null;
  const columns: Columns<Consent> = [
    { header: t('Application'), isName: true, width: '26%', cell: ({ client }) => client.name },
    { header: t('Scopes'), cell: ({ scopes }) => scopes.join(' ') },
    { header: t('Allowed'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: t('Changed'), cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    mayChange &&
      actionColumn(t('Revoke'), ({ client }) => t('Revoke the consent for {name}', { name: client.name }), setRevoking),
  ];
  return (
    <Section flush title={t('Consents')} lead={t('Third-party applications that the user allowed.')}>
      <DataTable
        label={t('Consents')}
        columns={columns}
        rows={consents}
        linkOf={({ client }) => path(`applications/${client.id}`)}
        empty={null}
      />
      <ConfirmMutation
        title={t('Revoke the consent for {name}?', { name: revoking?.client.name })}
        verb={t('Revoke')}
        operation={RevokeConsent}
        variables={revoking && { id: revoking.id }}
        invalidates={[UserAccess, RefreshGrants, AuditEvents]}
        done={t('Consent revoked')}
        onClose={() => setRevoking(undefined)}
      >
        <p>
          {t(
            '{name} loses its tokens and can no longer read the data of {user}. At the next sign-in the user is asked again.',
            { name: revoking?.client.name, user },
          )}
        </p>
      </ConfirmMutation>
    </Section>
  );
}
