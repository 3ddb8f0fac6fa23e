import { Modal, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { AuditEvents, GrantUserRecovery, UserAccess } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { Secrets, untilSaved } from '../ui/secrets/secret.tsx';

const waits = [1, 4, 24, 72].map((hours) => ({
  value: String(hours),
  label: t('{count, plural, one {# hour} other {# hours}}', { count: hours }),
}));

interface GrantRecoveryProps {
  user: { id: string; name: string };
  onClose(): void;
}

/** Grants a recovery and shows its code once. */
export function GrantRecovery({ user, onClose }: GrantRecoveryProps) {
  const [code, setCode] = useState<string>();
  const title = code === undefined ? t('Recover the account of {name}', { name: user.name }) : t('Recovery code');
  return (
    <Modal opened onClose={onClose} title={title} {...(code !== undefined && untilSaved)}>
      {code === undefined && <GrantForm user={user} onGranted={setCode} onClose={onClose} />}
      {code !== undefined && (
        <Secrets
          secrets={[
            { label: t('Recovery code'), value: code, hint: t('Pass it on by phone or in person, not by mail.') },
          ]}
          fileName="recovery-code.txt"
          onDone={onClose}
        />
      )}
    </Modal>
  );
}

interface GrantFormProps extends Pick<GrantRecoveryProps, 'user' | 'onClose'> {
  onGranted(code: string): void;
}

function GrantForm({ user, onGranted, onClose }: GrantFormProps) {
  const form = useDialogForm({
    initial: { reason: '', wait: '24' },
    request: ({ reason, wait }) =>
      request(GrantUserRecovery, { input: { userId: user.id, reason, waitHours: Number(wait) } }),
    invalidates: [UserAccess, AuditEvents],
    onDone: ({ grantUserRecovery }) => onGranted(grantUserRecovery.code),
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Grant recovery')} disabled={form.values.reason.trim() === ''}>
      <Stack>
        <Text>
          {t(
            'For a user who lost the passkey or second factor. You get a code for them; with it and a code sent to their email they can sign in once. First verify who is asking: call back on a known number.',
          )}
        </Text>
        <Textarea
          label={t('Reason')}
          description={t('Recorded in the event.')}
          maxLength={500}
          autosize
          minRows={2}
          {...form.field('reason')}
        />
        <NativeSelect
          label={t('Waiting time')}
          description={t('The user is notified immediately and can cancel. Then it can be used for 24 hours.')}
          data={waits}
          {...form.field('wait')}
        />
      </Stack>
    </DialogForm>
  );
}
