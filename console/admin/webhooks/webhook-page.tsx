import { Alert, Button, Group, Modal } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { part, useMutation, usePrefetch, useQuery } from '../api.ts';
import {
  AuditEvents,
  DeleteWebhook,
  RotateWebhookSecret,
  TestWebhook,
  UpdateWebhook,
  WebhookById,
  WebhookDeliveries,
  WebhookPage,
  Webhooks,
  WebhookUrl,
} from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { Time } from '../ui/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { disabledReasons, eventsOf, type Webhook, WebhookState } from './webhook-state.tsx';

const WebhookDeliveryList = lazy(async () => ({
  default: (await import('./webhook-deliveries.tsx')).WebhookDeliveryList,
}));
const WebhookForm = lazy(async () => ({ default: (await import('./webhook-form.tsx')).WebhookForm }));

const stale = [Webhooks, WebhookById, WebhookDeliveries, AuditEvents];

/** One webhook: settings, secret and deliveries. */
export function Component() {
  const { webhookId = '' } = useParams();
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const parts = [part(WebhookById, { id: webhookId }), part(WebhookUrl, { id: webhookId })];
  usePrefetch(WebhookPage, { id: webhookId }, mayChange ? parts : []);
  const { data, failure, reload } = useQuery(WebhookById, { id: webhookId }, { everySeconds: 5 });
  const webhook = data?.webhook.id === webhookId ? data.webhook : undefined;
  if (!webhook) return failure ? <LoadError failure={failure} subject="webhook" retry={reload} /> : <PageSkeleton />;
  return (
    <Page
      title={webhook.description || webhook.host}
      back={{ to: path('webhooks'), label: 'Webhooks' }}
      badges={<WebhookState webhook={webhook} />}
    >
      {!mayChange && <ViewerNotice project={project} />}
      {webhook.disabledReason && (
        <Alert color={webhook.disabledReason === 'ADMIN' ? 'neutral' : 'note'} title="This webhook is disabled">
          {disabledReasons[webhook.disabledReason]} Events are not queued for it.
        </Alert>
      )}
      <Settings webhook={webhook} mayChange={mayChange} />
      <Suspense fallback={null}>
        <WebhookDeliveryList webhook={webhook} mayChange={mayChange} />
      </Suspense>
    </Page>
  );
}

function Settings({ webhook, mayChange }: { webhook: Webhook; mayChange: boolean }) {
  const navigate = useNavigate();
  const path = useProjectPath();
  const address = useQuery(WebhookUrl, { id: webhook.id }, { pause: !mayChange });
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'delete'>();
  const [secret, setSecret] = useState<string>();
  const [test, testing, testFailure] = useMutation(TestWebhook, stale);
  const [update, updating, updateFailure] = useMutation(UpdateWebhook, stale);
  const [rotate, rotating, rotateFailure] = useMutation(RotateWebhookSecret, stale);
  const url = address.data?.webhookUrl;
  const isEnabled = webhook.disabledReason === null;
  const close = () => setDialog(undefined);
  return (
    <Section
      title="Receiver"
      actions={
        mayChange && (
          <>
            <Button
              variant="default"
              loading={testing}
              disabled={!isEnabled}
              onClick={async () => {
                const outcome = await test({ id: webhook.id });
                if (outcome.data) toast('Test event queued');
              }}
            >
              Send test event
            </Button>
            <Button variant="default" disabled={!url} onClick={() => setDialog('edit')}>
              Edit
            </Button>
          </>
        )
      }
    >
      <FormError failure={testFailure ?? updateFailure ?? address.failure} />
      <Facts
        labelWidth="10rem"
        facts={[
          ['Address', <code key="address">{url ?? webhook.host}</code>],
          ['Events', webhook.types.length <= 3 ? eventsOf(webhook) : webhook.types.join(', ')],
          ['Last delivered', <Time key="last" at={webhook.lastDeliveredAt} fallback="Never" />],
          webhook.failingSince && ['Failing since', <Time key="failing" at={webhook.failingSince} />],
          ['Secret created', <Time key="secret" at={webhook.secretCreatedAt} />],
          webhook.previousSecretUntil && [
            'Previous secret',
            <span key="previous">
              also signs until <Time at={webhook.previousSecretUntil} />
            </span>,
          ],
        ]}
      />
      {mayChange && (
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            loading={updating}
            onClick={async () => {
              const outcome = await update({ input: { id: webhook.id, enabled: !isEnabled } });
              if (outcome.data) toast(isEnabled ? 'Webhook disabled' : 'Webhook enabled');
            }}
          >
            {isEnabled ? 'Disable' : 'Enable'}
          </Button>
          <Button variant="default" size="xs" loading={rotating} onClick={() => setDialog('rotate')}>
            Rotate secret
          </Button>
          <Button variant="subtle" color="red" size="xs" onClick={() => setDialog('delete')}>
            Delete webhook
          </Button>
        </Group>
      )}
      <FormError failure={rotateFailure} />
      <Modal opened={dialog === 'edit'} onClose={close} title="Edit the webhook" size="lg">
        <Suspense fallback={null}>
          {dialog === 'edit' && url && <WebhookForm webhook={{ ...webhook, url }} onClose={close} />}
        </Suspense>
      </Modal>
      <Modal opened={dialog === 'rotate'} onClose={close} title="Rotate the signing secret?">
        <p>Both secrets sign for 24 hours, so that the receiver can change without a gap.</p>
        {webhook.previousSecretUntil && <p>The secret before that stops signing now.</p>}
        <Group justify="flex-end" gap="xs" mt="lg">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button
            onClick={async () => {
              close();
              const outcome = await rotate({ id: webhook.id });
              setSecret(outcome.data?.rotateWebhookSecret.secret);
            }}
          >
            Rotate secret
          </Button>
        </Group>
      </Modal>
      <ConfirmMutation
        title={`Delete the webhook to ${webhook.host}?`}
        verb="Delete webhook"
        operation={DeleteWebhook}
        variables={dialog === 'delete' ? { id: webhook.id } : undefined}
        invalidates={[Webhooks, AuditEvents]}
        done="Webhook deleted"
        onDone={() => void navigate(path('webhooks'))}
        onClose={close}
      >
        <p>It receives no more events. Its deliveries are deleted, also those that wait.</p>
      </ConfirmMutation>
      <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />
    </Section>
  );
}
