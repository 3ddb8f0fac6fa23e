import { TextInput } from '@mantine/core';
import {
  AddOrganizationDomain,
  AuditEvents,
  OrganizationDomains,
  VerifyOrganizationDomain,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { request } from '../../ui/code/show-graphql.tsx';
import { DialogForm } from '../../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../../ui/forms/first-focus.ts';
import { useDialogForm } from '../../ui/forms/use-dialog-form.ts';
import { verbatim } from '../../ui/forms/verbatim.ts';

const stale = [OrganizationDomains, AuditEvents];

/** Adds a domain, which has no effect until its record is found. */
export function AddDomain({ organizationId, onClose }: { organizationId: string; onClose(): void }) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { domain: '' },
    request: ({ domain }) => request(AddOrganizationDomain, { input: { organizationId, domain: domain.trim() } }),
    invalidates: stale,
    done: t('Domain added'),
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Add domain')} disabled={form.values.domain.trim() === ''}>
      <TextInput
        label={t('Domain')}
        description={t('The part of its addresses after the @. You get a DNS record to create.')}
        placeholder="example.com"
        maxLength={253}
        {...verbatim}
        {...form.field('domain')}
        {...firstFocus}
      />
    </DialogForm>
  );
}

/** Verifies a domain by the decision of an admin. */
export function VerifyDomain({ id, onClose }: { id: string; onClose(): void }) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { reason: '' },
    request: ({ reason }) => request(VerifyOrganizationDomain, { input: { id, reason: reason.trim() } }),
    invalidates: stale,
    done: t('Domain verified'),
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Verify domain')} disabled={form.values.reason.trim() === ''}>
      <p>{t('Only if you know that the domain belongs to the organization: it is not checked again.')}</p>
      <TextInput
        label={t('Reason')}
        description={t('Kept in the audit log.')}
        maxLength={500}
        {...form.field('reason')}
        {...firstFocus}
      />
    </DialogForm>
  );
}
