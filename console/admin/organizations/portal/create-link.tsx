import { Checkbox, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { AuditEvents, CreatePortalLink, PortalLinks, type PortalTask } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useOutline } from '../../projects/project.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { DialogForm } from '../../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../../ui/forms/first-focus.ts';
import { useDialogForm } from '../../ui/forms/use-dialog-form.ts';
import { moment } from '../../ui/secrets/expiry.ts';
import { Secrets, untilSaved } from '../../ui/secrets/secret.tsx';
import type { Organization } from '../organization-part.ts';
import { taskNames } from './task-names.ts';

// At most 30 days by the clock of the server.
const lifetimes = [1, 7, 14, 28].map((days) => ({
  value: String(days),
  label: t('{count, plural, one {# day} other {# days}}', { count: days }),
}));

interface CreateLinkProps {
  organization: Organization;
  onClose(): void;
}

/** Creates a portal link and shows it once. */
export function CreateLink({ organization, onClose }: CreateLinkProps) {
  const [url, setUrl] = useState<string>();
  const title = url === undefined ? t('New portal link') : t('Portal link');
  return (
    <Modal opened onClose={onClose} title={title} size="lg" {...(url !== undefined && untilSaved)}>
      {url === undefined && <LinkForm organization={organization} onCreated={setUrl} onClose={onClose} />}
      {url !== undefined && (
        <Secrets
          secrets={[
            {
              label: t('Portal link'),
              value: url,
              hint: t('Send it to the IT contact. It opens once, in one browser.'),
            },
          ]}
          fileName={`${organization.slug}.portal.txt`}
          onDone={onClose}
        />
      )}
    </Modal>
  );
}

function LinkForm({ organization, onCreated, onClose }: CreateLinkProps & { onCreated(url: string): void }) {
  const { scimEnabled } = useOutline();
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const tasks = (Object.keys(taskNames) as PortalTask[]).filter((task) => task !== 'DIRECTORY' || scimEnabled);
  const form = useDialogForm({
    initial: { email: '', can: tasks, days: '7', returnUrl: '' },
    request: ({ email, can, days, returnUrl }) =>
      request(CreatePortalLink, {
        input: {
          ...{ organizationId: organization.id, email: email.trim(), can, expiresAt: moment(days) },
          returnUrl: returnUrl.trim() || null,
        },
      }),
    invalidates: [PortalLinks, AuditEvents],
    onDone: ({ createPortalLink }) => onCreated(createPortalLink.url),
    onClose,
  });
  const isIncomplete = form.values.email.trim() === '' || form.values.can.length === 0;
  return (
    <DialogForm {...form.props} verb={t('Create link')} disabled={isIncomplete}>
      <TextInput
        label={t('Email address')}
        description={t('Of the IT contact. New links go to it; this one is for you to send.')}
        type="email"
        maxLength={256}
        {...form.field('email')}
        {...firstFocus}
      />
      <Checkbox.Group label={t('Steps')} {...form.field('can')}>
        <Stack gap="xs" mt="xs">
          {tasks.map((task) => (
            <Checkbox key={task} value={task} label={taskNames[task]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <NativeSelect label={t('Expires in')} data={lifetimes} {...form.field('days')} />
      <TextInput
        label={t('Return address')}
        description={t('Optional. A page of an application of this project that the portal links to.')}
        type="url"
        maxLength={2048}
        {...form.field('returnUrl')}
      />
    </DialogForm>
  );
}
