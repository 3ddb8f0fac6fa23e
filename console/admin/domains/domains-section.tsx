import { Alert, Badge, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMutation, useQuery } from '../api.ts';
import { faultAt } from '../failure.ts';
import {
  AuditEvents,
  CheckCustomDomain,
  CreateCustomDomain,
  CustomDomains,
  DeleteCustomDomain,
  type DomainRowFragment,
} from '../generated/operations.ts';
import type { Project } from '../projects/project.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Time } from '../ui/time.tsx';
import styles from './domains-section.module.css';

type Domain = DomainRowFragment;

const maxDomains = 5;
const stale = [CustomDomains, AuditEvents];
const badges = {
  PENDING: ['Pending', 'note'],
  VERIFIED: ['Verified', 'good'],
  FAILED: ['Failed', 'bad'],
} as const;
const faults = {
  MISSING: 'Record not found',
  UNAVAILABLE: 'No answer from DNS',
  TAKEN: 'Held by another project',
} as const;

/** Custom domains of a project, with the TXT records that verify them. */
export function DomainsSection({ project, mayChange }: { project: Project; mayChange: boolean }) {
  const { data, failure, reload } = useQuery(CustomDomains, { projectId: project.id });
  const [adding, setAdding] = useState(false);
  const [doomed, setDoomed] = useState<Domain>();
  if (failure && !data) return <LoadError failure={failure} subject="the custom domains" retry={reload} />;
  const all = data?.customDomains;
  const add = mayChange && (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      disabled={(all?.length ?? 0) >= maxDomains}
      onClick={() => setAdding(true)}
    >
      Add domain
    </Button>
  );
  return (
    <Section
      title="Custom domains"
      lead="Sign-in, account page and issuer at a host of your own. Existing applications keep their issuer."
      actions={all?.length ? add : undefined}
    >
      {all?.length === 0 && (
        <Empty icon="browser" title="No custom domain" action={add}>
          Users sign in at {project.issuer}.
        </Empty>
      )}
      {all && all.length > 0 && (
        <ul className={styles.list} aria-label="Custom domains">
          {all.map((domain) => (
            <DomainItem key={domain.id} domain={domain} mayChange={mayChange} onRemove={() => setDoomed(domain)} />
          ))}
        </ul>
      )}
      <Modal opened={adding} onClose={() => setAdding(false)} title="Add a custom domain">
        {adding && <DomainForm projectId={project.id} onClose={() => setAdding(false)} />}
      </Modal>
      <ConfirmMutation
        title={`Remove ${doomed?.host}?`}
        verb="Remove domain"
        name={doomed?.state === 'VERIFIED' ? doomed.host : undefined}
        operation={DeleteCustomDomain}
        variables={doomed && { id: doomed.id }}
        invalidates={stale}
        done="Domain removed"
        onClose={() => setDoomed(undefined)}
      >
        {doomed?.state === 'VERIFIED' ? (
          <>
            <p>Users cannot sign in there any more. Applications that use this issuer stop working.</p>
            <p>Its sessions, refresh tokens, device keys and passkeys end.</p>
          </>
        ) : (
          <p>You can add it again, with a new record.</p>
        )}
      </ConfirmMutation>
    </Section>
  );
}

function DomainItem({ domain, mayChange, onRemove }: { domain: Domain; mayChange: boolean; onRemove(): void }) {
  const [check, checking, failure] = useMutation(CheckCustomDomain, stale);
  const { host, state, fault, missingSince } = domain;
  const isMissing = state === 'VERIFIED' && missingSince !== null;
  const [status, color] = isMissing ? (['Needs attention', 'note'] as const) : badges[state];
  const run = async () => {
    const outcome = await check({ id: domain.id });
    const checked = outcome.data?.checkCustomDomain;
    if (checked?.fault === null) toast(`${host} is verified`);
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
            <Button
              variant="default"
              size="compact-sm"
              loading={checking}
              aria-label={`Check now: ${host}`}
              onClick={() => void run()}
            >
              Check now
            </Button>
            <Button variant="subtle" color="red" size="compact-sm" aria-label={`Remove ${host}`} onClick={onRemove}>
              Remove
            </Button>
          </Group>
        )}
      </Group>
      <FormError failure={failure} />
      {isMissing && (
        <Alert color="note" title="Its DNS record is missing">
          First missed <Time at={missingSince} />. After three days the domain stops working.
        </Alert>
      )}
      {state === 'VERIFIED' && <CopyField label="Issuer" value={domain.issuer} />}
      {(state !== 'VERIFIED' || isMissing) && (
        <Stack gap="sm">
          <CopyField label="TXT record: name" value={domain.challengeName} />
          <CopyField label="TXT record: value" value={domain.challenge} hint="Keep the record: it is checked again." />
        </Stack>
      )}
      <Text fz="xs" c="dimmed" role="status">
        {domain.checkedAt ? (
          <>
            Checked <Time at={domain.checkedAt} />
            {fault && <>: {faults[fault].toLowerCase()}</>}
          </>
        ) : (
          'Not checked yet'
        )}
      </Text>
    </li>
  );
}

function DomainForm({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [host, setHost] = useState('');
  const [create, busy, failure] = useMutation(CreateCustomDomain, stale);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const variables = { projectId, host: host.trim() };
  const submit = async () => {
    const outcome = await create(variables);
    if (!outcome.data) return;
    toast('Domain added');
    onClose();
  };
  return (
    <DialogForm
      verb="Add domain"
      {...{ busy, failure, onClose }}
      fields={['host']}
      disabled={host.trim() === ''}
      graphql={request(CreateCustomDomain, variables)}
      onSubmit={() => void submit()}
    >
      <TextInput
        label="Domain"
        description="A host that you route to Latchkey. It works once its DNS record is found."
        placeholder="login.example.com"
        maxLength={253}
        spellCheck={false}
        autoCapitalize="none"
        value={host}
        error={faultAt(failure, 'host')}
        onChange={(event) => setHost(event.currentTarget.value)}
        {...firstFocus}
      />
    </DialogForm>
  );
}
