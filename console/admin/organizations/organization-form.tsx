import { TextInput } from '@mantine/core';
import { useNavigate } from 'react-router';
import { AuditEvents, CreateOrganization, Organizations } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';
import { suggestedSlug } from './slug.ts';

/** Creates an organization, whose page opens. */
export function OrganizationForm({ onClose }: { onClose(): void }) {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const navigate = useNavigate();
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { name: '', slug: undefined as string | undefined },
    request: ({ name, slug = suggestedSlug(name) }) =>
      request(CreateOrganization, { input: { projectId, name, slug } }),
    invalidates: [Organizations, AuditEvents],
    done: t('Organization created'),
    onDone: ({ createOrganization: { id } }) => void navigate(path(`organizations/${id}`)),
    onClose,
  });
  const { name, slug = suggestedSlug(name) } = form.values;
  return (
    <DialogForm {...form.props} verb={t('Create organization')} disabled={name.trim() === '' || slug === ''}>
      <TextInput
        label={t('Name')}
        description={t('Members see it when they choose an organization.')}
        maxLength={100}
        {...form.field('name')}
        {...firstFocus}
      />
      <TextInput
        label={t('Slug')}
        description={t('Applications name the organization by it in sign-in requests.')}
        maxLength={63}
        {...verbatim}
        {...form.field('slug')}
        value={slug}
      />
    </DialogForm>
  );
}
