import { useState } from 'react';
import {
  AuditEvents,
  RefreshGrants,
  RevokeConsent,
  UserAccess,
  type UserAccessQuery,
} from '../generated/operations.ts';
import { useProjectPath } from '../projects/project.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Consent = UserAccessQuery['userAccess']['consents'][number];

interface UserConsentsProps {
  user: string;
  consents: readonly Consent[] | undefined;
  mayChange: boolean;
}

/** What a user allowed third-party applications; nothing for users without. */
export function UserConsents({ user, consents, mayChange }: UserConsentsProps) {
  const path = useProjectPath();
  const [revoking, setRevoking] = useState<Consent>();
  if (!consents?.length && !revoking) return null;
  const columns: Column<Consent>[] = [
    { header: 'Application', isName: true, width: '26%', cell: ({ client }) => client.name },
    { header: 'Scopes', cell: ({ scopes }) => scopes.join(' ') },
    { header: 'Allowed', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    ...(mayChange
      ? [actionColumn<Consent>('Revoke', ({ client }) => `Revoke the consent for ${client.name}`, setRevoking)]
      : []),
  ];
  return (
    <Section flush title="Consents" lead="Third-party applications that the user allowed.">
      <DataTable
        label="Consents"
        columns={columns}
        rows={consents}
        linkOf={({ client }) => path(`applications/${client.id}`)}
        empty={null}
      />
      <ConfirmMutation
        title={`Revoke the consent for ${revoking?.client.name}?`}
        verb="Revoke"
        operation={RevokeConsent}
        variables={revoking && { id: revoking.id }}
        invalidates={[UserAccess, RefreshGrants, AuditEvents]}
        done="Consent revoked"
        onClose={() => setRevoking(undefined)}
      >
        <p>
          {revoking?.client.name} loses its tokens and can no longer read the data of {user}. At the next sign-in the
          user is asked again.
        </p>
      </ConfirmMutation>
    </Section>
  );
}
