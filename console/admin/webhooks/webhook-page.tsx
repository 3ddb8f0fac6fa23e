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
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton, PageSkeleton } from '../ui/feedback/skeleton.tsx';
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
  if (!webhook)
    return failure ? <LoadError failure={failure} subject={t('webhook')} retry={reload} /> : <PageSkeleton />;
  return (
    <Page
      title={webhook.description || webhook.host}
      back={{ to: path('webhooks'), label: t('Webhooks') }}
      badges={<WebhookState webhook={webhook} />}
    >
      {!mayChange && <ViewerNotice project={project} />}
      {webhook.disabledReason && (
        <Alert color={webhook.disabledReason === 'ADMIN' ? 'neutral' : 'note'} title={t('This webhook is disabled')}>
          {`${disabledReasons[webhook.disabledReason]} ${t('Events are not queued for it.')}`}
        </Alert>
      )}
      <Settings webhook={webhook} mayChange={mayChange} />
      <Suspense
        fallback={
          <Section flush title={t('Deliveries')}>
            <LinesSkeleton flush />
          </Section>
        }
      >
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
      title={t('Receiver')}
      actions={
        mayChange && (
          <>
            <Button
              variant="default"
              loading={testing}
              disabled={!isEnabled}
              onClick={async () => {
                const outcome = await test({ id: webhook.id });
                if (outcome.data) toast(t('Test event queued'));
              }}
            >
              {t('Send test event')}
            </Button>
            <Button variant="default" disabled={!url} onClick={() => setDialog('edit')}>
              {t('Edit')}
            </Button>
          </>
        )
      }
    >
      <FormError failure={testFailure ?? updateFailure ?? address.failure} />
      <Facts
        labelWidth="10rem"
        facts={[
          [t('Address'), <code key="address">{url ?? webhook.host}</code>],
          [t('Events'), webhook.types.length <= 3 ? eventsOf(webhook) : webhook.types.join(', ')],
          [t('Last delivered'), <Time key="last" at={webhook.lastDeliveredAt} fallback={t('Never')} />],
          webhook.failingSince && [t('Failing since'), <Time key="failing" at={webhook.failingSince} />],
          [t('Secret created'), <Time key="secret" at={webhook.secretCreatedAt} />],
          webhook.previousSecretUntil && [
            t('Previous secret'),
            <span key="previous">
              {rich('also signs until <time></time>', { time: () => <Time at={webhook.previousSecretUntil} /> })}
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
              if (outcome.data) toast(isEnabled ? t('Webhook disabled') : t('Webhook enabled'));
            }}
          >
            {isEnabled ? t('Disable') : t('Enable')}
          </Button>
          <Button variant="default" size="xs" loading={rotating} onClick={() => setDialog('rotate')}>
            {t('Rotate secret')}
          </Button>
          <Button variant="subtle" color="red" size="xs" onClick={() => setDialog('delete')}>
            {t('Delete webhook')}
          </Button>
        </Group>
      )}
      <FormError failure={rotateFailure} />
      <Modal opened={dialog === 'edit'} onClose={close} title={t('Edit the webhook')} size="lg">
        <Suspense fallback={null}>
          {dialog === 'edit' && url && <WebhookForm webhook={{ ...webhook, url }} onClose={close} />}
        </Suspense>
      </Modal>
      <Modal opened={dialog === 'rotate'} onClose={close} title={t('Rotate the signing secret?')}>
        <p>{t('Both secrets sign for 24 hours, so that the receiver can change without a gap.')}</p>
        {webhook.previousSecretUntil && <p>{t('The secret before that stops signing now.')}</p>}
        <Group justify="flex-end" gap="xs" mt="lg">
          <Button variant="default" onClick={close} data-autofocus>
            {t('Cancel')}
          </Button>
          <Button
            onClick={async () => {
              close();
              const outcome = await rotate({ id: webhook.id });
              setSecret(outcome.data?.rotateWebhookSecret.secret);
            }}
          >
            {t('Rotate secret')}
          </Button>
        </Group>
      </Modal>
      <ConfirmMutation
        title={t('Delete the webhook to {host}?', { host: webhook.host })}
        verb={t('Delete webhook')}
        operation={DeleteWebhook}
        variables={dialog === 'delete' ? { id: webhook.id } : undefined}
        invalidates={[Webhooks, AuditEvents]}
        done={t('Webhook deleted')}
        onDone={() => void navigate(path('webhooks'))}
        onClose={close}
      >
        <p>{t('It receives no more events. Its deliveries are deleted, also those that wait.')}</p>
      </ConfirmMutation>
      <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />
    </Section>
  );
}
