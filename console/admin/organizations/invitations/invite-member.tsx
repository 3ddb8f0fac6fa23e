import { TextInput } from '@mantine/core';
import { AuditEvents, InviteOrganizationMember, OrganizationInvitations } from '../../generated/operations.ts';
import { language, t } from '../../language/language.ts';
import { request } from '../../ui/code/show-graphql.tsx';
import { DialogForm } from '../../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../../ui/forms/first-focus.ts';
import { useDialogForm } from '../../ui/forms/use-dialog-form.ts';
import type { Organization } from '../organization-part.ts';
import { RoleChoice } from '../role-choice.tsx';

/** Invites an address to an organization. */
export function InviteMember({ organization, onClose }: { organization: Organization; onClose(): void }) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { email: '', roleKeys: organization.defaultRoles.map(({ key }) => key) },
    // For an address without a user: the language of the admin is the best guess.
    request: ({ email, roleKeys }) =>
      request(InviteOrganizationMember, {
        input: { organizationId: organization.id, email: email.trim(), roleKeys, locale: language },
      }),
    invalidates: [OrganizationInvitations, AuditEvents],
    done: t('Invitation sent'),
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Send invitation')} disabled={form.values.email.trim() === ''}>
      <TextInput
        label={t('Email address')}
        description={t('An open invitation of this address is replaced.')}
        type="email"
        maxLength={256}
        {...form.field('email')}
        {...firstFocus}
      />
      <RoleChoice
        label={t('Roles')}
        description={t('Preset: the default roles of the organization.')}
        value={form.values.roleKeys}
        onChange={(keys) => form.set({ roleKeys: keys })}
        error={form.faultAt('roleKeys')}
      />
    </DialogForm>
  );
}
