import { Alert, Button, Group } from '@mantine/core';
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
import { AddressCode } from '../ui/breakable.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton, PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
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
          {`${disabledReasons[webhook.disabledReason]} ${t('Events are kept as failed deliveries, to replay later.')}`}
        </Alert>
      )}
      <Receiver webhook={webhook} mayChange={mayChange} />
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

/** Address and state of the receiver. */
function Receiver({ webhook, mayChange }: { webhook: Webhook; mayChange: boolean }) {
  const address = useQuery(WebhookUrl, { id: webhook.id }, { pause: !mayChange });
  const test = useAction(TestWebhook, stale, t('Test event queued'));
  const [dialog, { open }] = useDialog();
  const url = address.data?.webhookUrl;
  const edit = (url: string) =>
    open(t('Edit webhook'), (close) => <WebhookForm webhook={{ ...webhook, url }} onClose={close} />, 'lg');
  const { id, host, types, lastDeliveredAt, failingSince, secretCreatedAt, previousSecretUntil } = webhook;
  return (
    <Section
      title={t('Receiver')}
      actions={
        mayChange && (
          <>
            <SecondaryButton
              loading={test.busy}
              disabled={webhook.disabledReason !== null}
              onClick={() => void test.run({ id })}
            >
              {t('Send test event')}
            </SecondaryButton>
            <SecondaryButton disabled={!url} onClick={() => url && edit(url)}>
              {t('Edit')}
            </SecondaryButton>
          </>
        )
      }
    >
      <FormError failure={test.failure ?? address.failure} />
      <Facts
        labelWidth="10rem"
        facts={[
          [t('URL'), <AddressCode key="address" text={url ?? host} />],
          [t('Events'), types.length <= 3 ? eventsOf(webhook) : types.join(', ')],
          [t('Last delivered'), <Time key="last" at={lastDeliveredAt} fallback={t('Never')} />],
          failingSince && [t('Failing since'), <Time key="failing" at={failingSince} />],
          [t('Secret created'), <Time key="secret" at={secretCreatedAt} />],
          previousSecretUntil && [
            t('Previous secret'),
            <span key="previous">
              {rich('also signs until <time></time>', { time: () => <Time at={previousSecretUntil} /> })}
            </span>,
          ],
        ]}
      />
      {mayChange && <WebhookActions webhook={webhook} />}
      {dialog}
    </Section>
  );
}

interface RotateSecretProps {
  /** End of the previous secret, which still signs. */
  previousSecretUntil: string | null;
  onConfirm(): void;
  onClose(): void;
}

function RotateSecret({ previousSecretUntil, onConfirm, onClose }: RotateSecretProps) {
  const submit = () => {
    onClose();
    onConfirm();
  };
  return (
    <DialogForm verb={t('Rotate secret')} busy={false} failure={undefined} onSubmit={submit} onClose={onClose}>
      <p>{t('Both secrets sign for 24 hours, so that the receiver can change without a gap.')}</p>
      {previousSecretUntil && <p>{t('The secret before that stops signing now.')}</p>}
    </DialogForm>
  );
}

/** Disables the webhook, replaces its secret, or deletes it. */
function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { id, host, disabledReason, previousSecretUntil } = webhook;
  const isEnabled = disabledReason === null;
  const toggle = useAction(UpdateWebhook, stale, isEnabled ? t('Webhook disabled') : t('Webhook enabled'));
  const [rotate, rotating, rotateFailure] = useMutation(RotateWebhookSecret, stale);
  const [dialog, { open, confirm }] = useDialog();
  const [secret, setSecret] = useState<string>();
  const navigate = useNavigate();
  const path = useProjectPath();
  const replaceSecret = async () => {
    const outcome = await rotate({ id });
    setSecret(outcome.data?.rotateWebhookSecret.secret);
  };
  const askToReplace = () =>
    open(t('Rotate the signing secret?'), (onClose) => (
      <RotateSecret {...{ previousSecretUntil, onClose }} onConfirm={() => void replaceSecret()} />
    ));
  const remove = () =>
    confirm({
      title: t('Delete the webhook to {host}?', { host }),
      effect: <p>{t('It receives no more events. Its deliveries are deleted, also those that wait.')}</p>,
      verb: t('Delete webhook'),
      request: request(DeleteWebhook, { id }),
      invalidates: [Webhooks, AuditEvents],
      done: t('Webhook deleted'),
      onDone: () => void navigate(path('webhooks')),
    });
  const button = { variant: 'default', size: 'xs' } as const;
  return (
    <>
      <Group gap="xs">
        <Button
          {...button}
          loading={toggle.busy}
          onClick={() => void toggle.run({ input: { id, enabled: !isEnabled } })}
        >
          {isEnabled ? t('Disable') : t('Enable')}
        </Button>
        <Button {...button} loading={rotating} onClick={askToReplace}>
          {t('Rotate secret')}
        </Button>
        <Button variant="subtle" color="red" size="xs" onClick={remove}>
          {t('Delete webhook')}
        </Button>
      </Group>
      <FormError failure={toggle.failure ?? rotateFailure} />
      {dialog}
      <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />
    </>
  );
}
