import { TextInput } from '@mantine/core';
import {
  AuditEvents,
  CreateWebhook,
  UpdateWebhook,
  WebhookById,
  Webhooks,
  WebhookUrl,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';
import { EventTypes } from './event-types-field.tsx';
import type { Webhook } from './webhook-state.tsx';

interface WebhookFormProps {
  /** Absent: a new webhook. */
  webhook?: Webhook & { url: string };
  onSecret?(secret: string): void;
  onClose(): void;
}

/** Creates or changes a webhook. */
export function WebhookForm({ webhook, onSecret, onClose }: WebhookFormProps) {
  const { id: projectId } = useProject();
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { url: webhook?.url ?? '', description: webhook?.description ?? '', types: webhook?.types ?? [] },
    request({ url, description, types }) {
      const values = { url: url.trim(), description: description.trim(), types };
      return webhook
        ? request(UpdateWebhook, { input: { id: webhook.id, ...values } })
        : request(CreateWebhook, { input: { projectId, ...values } });
    },
    invalidates: [Webhooks, WebhookById, WebhookUrl, AuditEvents],
    onDone(data) {
      if ('createWebhook' in data) onSecret?.(data.createWebhook.secret);
      else toast(t('Saved'));
      onClose();
    },
    onClose,
  });
  return (
    <DialogForm
      {...form.props}
      verb={webhook ? t('Save') : t('Create webhook')}
      disabled={form.values.url.trim() === ''}
    >
      <TextInput
        label={t('URL')}
        description={t('https, at a public address. Latchkey sends a POST with JSON.')}
        placeholder="https://app.example.com/webhooks/latchkey"
        maxLength={2048}
        {...verbatim}
        {...form.field('url')}
        {...firstFocus}
      />
      <TextInput
        label={t('Description')}
        description={t('Shown in lists instead of the host.')}
        maxLength={100}
        {...form.field('description')}
      />
      <EventTypes {...form.field('types')} />
    </DialogForm>
  );
}
