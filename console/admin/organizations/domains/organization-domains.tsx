import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { lazy } from 'react';
import { useMutation, useQuery } from '../../api.ts';
import {
  AuditEvents,
  CheckOrganizationDomain,
  OrganizationDomains as Domains,
  type OrganizationDomainRowFragment,
  RemoveOrganizationDomain,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { AddButton, SecondaryButton } from '../../ui/buttons.tsx';
import { CopyField } from '../../ui/code/copy.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../../ui/feedback/skeleton.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { type Confirmation, useDialog } from '../../ui/feedback/use-dialog.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Time } from '../../ui/time.tsx';
import type { OrganizationPartProps } from '../organization-part.ts';
import { JoinByDomain } from './join-by-domain.tsx';
import styles from './organization-domains.module.css';

const AddDomain = lazy(async () => ({ default: (await import('./domain-forms.tsx')).AddDomain }));
const VerifyDomain = lazy(async () => ({ default: (await import('./domain-forms.tsx')).VerifyDomain }));

type Domain = OrganizationDomainRowFragment;

const maxDomains = 50;
const faults = {
  MISSING: t('Record not found'),
  UNAVAILABLE: t('No response from DNS'),
  TAKEN: t('Held by another organization'),
} as const;

/** The mail domains of an organization, and what they do. */
export function OrganizationDomains({ organization, mayChange, inProject }: OrganizationPartProps) {
  const [dialog, { open, confirm }] = useDialog();
  // The server looks for pending records by itself.
  const { data, failure, reload } = useQuery(Domains, { id: organization.id }, { everySeconds: 15 });
  const all = data?.organization?.domains;
  if (failure && !all) return <LoadError failure={failure} subject={t('the mail domains')} retry={reload} />;
  const add = mayChange && (
    <AddButton
      disabled={(all?.length ?? 0) >= maxDomains}
      onClick={() => open(t('Add domain'), (close) => <AddDomain organizationId={organization.id} onClose={close} />)}
    >
      {t('Add domain')}
    </AddButton>
  );
  const verify = ({ id, domain }: Domain) =>
    open(t('Verify {domain} without a record', { domain }), (close) => <VerifyDomain id={id} onClose={close} />);
  return (
    <>
      <Section
        title={t('Mail domains')}
        lead={t('Domains whose mail addresses belong to the organization, each proved by a DNS record.')}
        actions={all?.length ? add : undefined}
      >
        {!all && <LinesSkeleton />}
        {all?.length === 0 && (
          <Empty icon="mail" title={t('No mail domains yet')} action={add}>
            {t('With a verified domain, people can join by their address, and connections recognize their accounts.')}
          </Empty>
        )}
        {all && all.length > 0 && (
          <ul className={styles.list} aria-label={t('Mail domains')}>
            {all.map((domain) => (
              <DomainItem
                key={domain.id}
                domain={domain}
                mayChange={mayChange}
                onVerify={inProject ? () => verify(domain) : undefined}
                onRemove={() => confirm(removal(domain))}
              />
            ))}
          </ul>
        )}
        {dialog}
      </Section>
      {inProject && <JoinByDomain organization={organization} mayChange={mayChange} />}
    </>
  );
}

interface DomainItemProps {
  domain: Domain;
  mayChange: boolean;
  /** Verifies it without a record. Undefined: not allowed. */
  onVerify: (() => void) | undefined;
  onRemove(): void;
}

function DomainItem({ domain: row, mayChange, onVerify, onRemove }: DomainItemProps) {
  const [check, checking, failure] = useMutation(CheckOrganizationDomain, [Domains, AuditEvents]);
  const { id, domain, state, fault, failingSince } = row;
  const isVerified = state === 'VERIFIED';
  const run = async () => {
    const outcome = await check({ id });
    if (outcome.data?.checkOrganizationDomain.state === 'VERIFIED') toast(t('{domain} is verified', { domain }));
  };
  return (
    <li className={styles.domain}>
      <Group justify="space-between" gap="0.5rem 1rem">
        <Group gap="0.25rem 0.75rem" className={styles.name ?? ''}>
          <h3>{row.unicode === null ? domain : `${row.unicode} (${domain})`}</h3>
          <DomainBadge domain={row} />
        </Group>
        {mayChange && (
          <Group gap={4}>
            {row.provedBy !== 'ADMIN' && (
              <SecondaryButton
                size="compact-sm"
                loading={checking}
                aria-label={t('Check now: {domain}', { domain })}
                onClick={() => void run()}
              >
                {t('Check now')}
              </SecondaryButton>
            )}
            {!isVerified && onVerify && (
              <Button
                variant="subtle"
                size="compact-sm"
                aria-label={t('Verify {domain} without a record', { domain })}
                onClick={onVerify}
              >
                {t('Verify without a record')}
              </Button>
            )}
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              aria-label={t('Remove {domain}', { domain })}
              onClick={onRemove}
            >
              {t('Remove')}
            </Button>
          </Group>
        )}
      </Group>
      <FormError failure={failure} />
      {failingSince !== null && (
        <Alert color="note" title={fault ? faults[fault] : t('Needs attention')}>
          {rich('First failed check: <since></since>. The domain is lost <end></end>, unless a check succeeds.', {
            since: () => <Time at={failingSince} />,
            end: () => <Time at={row.releaseAt} />,
          })}
        </Alert>
      )}
      {(!isVerified || failingSince !== null) && (
        <Stack gap="sm">
          <CopyField label={t('TXT record: name')} value={row.record.name} />
          <CopyField
            label={t('TXT record: value')}
            value={row.record.value}
            hint={t('Keep the record: it is checked again.')}
          />
        </Stack>
      )}
      <Text fz="xs" c="dimmed" role="status">
        <LastCheck domain={row} />
      </Text>
    </li>
  );
}

function DomainBadge({ domain: { state, failingSince } }: { domain: Domain }) {
  if (failingSince !== null) return <Badge color="note">{t('Needs attention')}</Badge>;
  return state === 'VERIFIED' ? (
    <Badge color="good">{t('Verified')}</Badge>
  ) : (
    <Badge color="note">{t('Pending')}</Badge>
  );
}

function LastCheck({ domain: { provedBy, reason, checkedAt, fault } }: { domain: Domain }) {
  if (provedBy === 'ADMIN') return t('Verified by an admin: {reason}', { reason: reason ?? '' });
  if (!checkedAt) return t('Not checked yet');
  return (
    <>
      {rich('Checked <time></time>', { time: () => <Time at={checkedAt} /> })}
      {fault && <>. {faults[fault]}</>}
    </>
  );
}

const removal = ({ id, domain, state }: Domain): Confirmation => ({
  title: t('Remove {domain}?', { domain }),
  effect:
    state === 'VERIFIED' ? (
      <>
        <p>{t('Its addresses no longer lead to the organization, and people no longer join by them. Members stay.')}</p>
        <p>
          {t('Directory users who have never signed in lose their login address until the domain is verified again.')}
        </p>
      </>
    ) : (
      <p>{t('You can add it again, with a new record.')}</p>
    ),
  verb: t('Remove domain'),
  name: state === 'VERIFIED' ? domain : undefined,
  request: request(RemoveOrganizationDomain, { id }),
  invalidates: [Domains, AuditEvents],
  done: t('Domain removed'),
});
