import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
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
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [types, setTypes] = useState<string[]>(webhook?.types ?? []);
  const stale = [Webhooks, WebhookById, WebhookUrl, AuditEvents];
  const [create, creating, createFailure] = useMutation(CreateWebhook, stale);
  const [update, updating, updateFailure] = useMutation(UpdateWebhook, stale);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const failure = createFailure ?? updateFailure;
  const values = { url: url.trim(), description: description.trim(), types };
  const made = { input: { projectId, ...values } };
  const changed = webhook && { input: { id: webhook.id, ...values } };
  const submit = async () => {
    if (changed) {
      const outcome = await update(changed);
      if (!outcome.data) return;
      toast(t('Saved'));
    } else {
      const outcome = await create(made);
      if (!outcome.data) return;
      onSecret?.(outcome.data.createWebhook.secret);
    }
    onClose();
  };
  return (
    <DialogForm
      verb={webhook ? t('Save') : t('Create webhook')}
      busy={creating || updating}
      {...{ failure, onClose }}
      fields={['url', 'description']}
      disabled={values.url === ''}
      graphql={changed ? request(UpdateWebhook, changed) : request(CreateWebhook, made)}
      onSubmit={() => void submit()}
    >
      <TextInput
        label={t('URL')}
        description={t('https, at a public address. Latchkey sends a POST with JSON.')}
        placeholder="https://app.example.com/webhooks/latchkey"
        maxLength={2048}
        spellCheck={false}
        autoCapitalize="none"
        value={url}
        error={faultAt(failure, 'url')}
        onChange={(event) => setUrl(event.currentTarget.value)}
        {...firstFocus}
      />
      <TextInput
        label={t('Description')}
        description={t('Shown in lists instead of the host.')}
        maxLength={100}
        value={description}
        error={faultAt(failure, 'description')}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <EventTypes value={types} onChange={setTypes} />
    </DialogForm>
  );
}
