import { Alert, Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '../api.ts';
import {
  AuditEvents,
  CheckCustomDomain,
  CreateCustomDomain,
  CustomDomains,
  DeleteCustomDomain,
  type DomainRowFragment,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import type { Project } from '../projects/project.tsx';
import { AddButton, SecondaryButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';
import { Section } from '../ui/layout/page.tsx';
import { Time } from '../ui/time.tsx';
import styles from './domains-section.module.css';

type Domain = DomainRowFragment;

const maxDomains = 5;
const stale = [CustomDomains, AuditEvents];
const badges = {
  PENDING: [t('Pending'), 'note'],
  VERIFIED: [t('Verified'), 'good'],
  FAILED: [t('Failed'), 'bad'],
} as const;
const faults = {
  MISSING: t('Record not found'),
  UNAVAILABLE: t('No response from DNS'),
  TAKEN: t('Held by another project'),
} as const;

/** Custom domains of a project, with the TXT records that verify them. */
export function DomainsSection({ project, mayChange }: { project: Project; mayChange: boolean }) {
  const { data, failure, reload } = useQuery(CustomDomains, { projectId: project.id });
  const [dialog, { open, confirm }] = useDialog();
  if (failure && !data) return <LoadError failure={failure} subject={t('the custom domains')} retry={reload} />;
  const all = data?.customDomains;
  const add = mayChange && (
    <AddButton
      disabled={(all?.length ?? 0) >= maxDomains}
      onClick={() => open(t('Add domain'), (close) => <DomainForm projectId={project.id} onClose={close} />)}
    >
      {t('Add domain')}
    </AddButton>
  );
  return (
    <Section
      title={t('Custom domains')}
      lead={t('Sign-in, account page and issuer at your own host. Existing applications keep their issuer.')}
      actions={all?.length ? add : undefined}
    >
      {all?.length === 0 && (
        <Empty icon="browser" title={t('No custom domains')} action={add}>
          {t('Users sign in at {issuer}.', { issuer: project.issuer })}
        </Empty>
      )}
      {all && all.length > 0 && (
        <ul className={styles.list} aria-label={t('Custom domains')}>
          {all.map((domain) => (
            <DomainItem
              key={domain.id}
              domain={domain}
              mayChange={mayChange}
              onRemove={() => confirm(removal(domain))}
            />
          ))}
        </ul>
      )}
      {dialog}
    </Section>
  );
}

const removal = ({ id, host, state }: Domain): Confirmation => ({
  title: t('Remove {host}?', { host }),
  effect:
    state === 'VERIFIED' ? (
      <>
        <p>{t('Users can no longer sign in there. Applications that use this issuer stop working.')}</p>
        <p>{t('Its sessions, refresh tokens, device keys and passkeys end.')}</p>
      </>
    ) : (
      <p>{t('You can add it again, with a new record.')}</p>
    ),
  verb: t('Remove domain'),
  name: state === 'VERIFIED' ? host : undefined,
  request: request(DeleteCustomDomain, { id }),
  invalidates: stale,
  done: t('Domain removed'),
});

/** A verified domain whose checks fail: since when, and with which fault. */
function failureOf({ state, fault, missingSince, unansweredSince }: Domain) {
  if (state !== 'VERIFIED') return null;
  if (fault === 'UNAVAILABLE' && unansweredSince !== null) return { fault, since: unansweredSince };
  return missingSince === null ? null : { fault: 'MISSING' as const, since: missingSince };
}

function DomainItem({ domain, mayChange, onRemove }: { domain: Domain; mayChange: boolean; onRemove(): void }) {
  const [check, checking, failure] = useMutation(CheckCustomDomain, stale);
  const { host, state, fault } = domain;
  const [status, color] = failureOf(domain) ? ([t('Needs attention'), 'note'] as const) : badges[state];
  const run = async () => {
    const outcome = await check({ id: domain.id });
    const checked = outcome.data?.checkCustomDomain;
    if (checked?.fault === null) toast(t('{host} is verified', { host }));
  };
  return (
    <li className={styles.domain}>
      <Group justify="space-between" gap="0.5rem 1rem">
        <Group gap="0.25rem 0.75rem" className={styles.name ?? ''}>
          <h3>{host}</h3>
          <Badge color={color}>{status}</Badge>
        </Group>
        {mayChange && (
          <Group gap={4} wrap="nowrap">
            <SecondaryButton
              size="compact-sm"
              loading={checking}
              aria-label={t('Check now: {host}', { host })}
              onClick={() => void run()}
            >
              {t('Check now')}
            </SecondaryButton>
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              aria-label={t('Remove {host}', { host })}
              onClick={onRemove}
            >
              {t('Remove')}
            </Button>
          </Group>
        )}
      </Group>
      <FormError failure={failure} />
      <Addresses domain={domain} />
      <Text fz="xs" c="dimmed" role="status">
        {domain.checkedAt ? (
          <>
            {rich('Checked <time></time>', { time: () => <Time at={domain.checkedAt} /> })}
            {fault && <>. {faults[fault]}</>}
          </>
        ) : (
          t('Not checked yet')
        )}
      </Text>
    </li>
  );
}

/** The domain's issuer, and the record that it needs. */
function Addresses({ domain }: { domain: Domain }) {
  const failure = failureOf(domain);
  const isMissing = failure?.fault === 'MISSING';
  const isVerified = domain.state === 'VERIFIED';
  return (
    <>
      {failure && (
        <Alert color="note" title={isMissing ? t('Its DNS record is missing') : t('Its name servers do not answer')}>
          {rich('First failed check: <since></since>. The domain stops working <end></end>, unless a check succeeds.', {
            since: () => <Time at={failure.since} />,
            end: () => <Time at={domain.releaseAt} />,
          })}
        </Alert>
      )}
      {isVerified && <CopyField label={t('Issuer')} value={domain.issuer} />}
      {(!isVerified || isMissing) && (
        <Stack gap="sm">
          <CopyField label={t('TXT record: name')} value={domain.challengeName} />
          <CopyField
            label={t('TXT record: value')}
            value={domain.challenge}
            hint={t('Keep the record: it is checked again.')}
          />
        </Stack>
      )}
    </>
  );
}

function DomainForm({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { host: '' },
    request: ({ host }) => request(CreateCustomDomain, { projectId, host: host.trim() }),
    invalidates: stale,
    done: t('Domain added'),
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Add domain')} disabled={form.values.host.trim() === ''}>
      <TextInput
        label={t('Domain')}
        description={t('A host that you route to Latchkey. It works once its DNS record is found.')}
        placeholder="login.example.com"
        maxLength={253}
        {...verbatim}
        {...form.field('host')}
        {...firstFocus}
      />
    </DialogForm>
  );
}
