import { NativeSelect, TextInput } from '@mantine/core';
import { roleNames } from '../access.tsx';
import {
  type AdminTokenRowFragment,
  AdminTokens as AdminTokensQuery,
  IssueAdminToken,
  RevokeAdminToken,
  type Role,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { lifetimes, moment } from '../ui/secrets/expiry.ts';
import { TokenList } from '../ui/secrets/token-list.tsx';
import { RoleSelect } from './members.tsx';

type Token = AdminTokenRowFragment;

/** Admin API tokens. A token's role never exceeds its creator's. */
export function AdminTokens({ projectId, tokens }: { projectId?: string; tokens: readonly Token[] | undefined }) {
  return (
    <TokenList
      title={t('API tokens')}
      lead={t("Bearer tokens for the admin API. Limited to their creator's current role.")}
      label={t('API tokens')}
      tokens={tokens}
      prefix="lk_admin_"
      columns={[{ header: t('Role'), cell: ({ role }) => roleNames[role] }]}
      empty={t('Scripts can do everything the console does.')}
      mayChange
      form={(issued, close) => <IssueForm projectId={projectId} onIssued={issued} onClose={close} />}
      secret={{ label: t('Admin API token'), fileName: 'admin-token.txt' }}
      revocation={{ operation: RevokeAdminToken, invalidates: [AdminTokensQuery] }}
      consequence={() => ({ before: t('Requests with this token fail immediately. This cannot be undone.') })}
    />
  );
}

interface IssueFormProps {
  projectId: string | undefined;
  onIssued(token: string): void;
  onClose(): void;
}

function IssueForm({ projectId, onIssued, onClose }: IssueFormProps) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { name: '', days: '90', role: (projectId ? 'PROJECT_VIEWER' : 'OWNER') as Role },
    request: ({ name, days, role }) =>
      request(IssueAdminToken, { input: { name, role, projectId: projectId ?? null, expiresAt: moment(days) } }),
    invalidates: [AdminTokensQuery],
    onDone: ({ issueAdminToken }) => onIssued(issueAdminToken.token),
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Issue token')} disabled={form.values.name.trim() === ''} graphql={undefined}>
      <TextInput
        label={t('Name')}
        description={t('Describe its purpose.')}
        maxLength={200}
        {...form.field('name')}
        {...firstFocus}
      />
      {projectId ? (
        <RoleSelect role={form.values.role} onChange={(role) => form.set({ role })} />
      ) : (
        <p>{t("Instance tokens have the owner role. Issue project tokens on the project's page.")}</p>
      )}
      <NativeSelect label={t('Expires in')} data={[...lifetimes]} {...form.field('days')} />
    </DialogForm>
  );
}
