import { Checkbox, NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import {
  AuditEvents,
  CreateLogStream,
  LogStreamById,
  type LogStreamFormat,
  type LogStreamKind,
  LogStreams,
  LogStreamTarget,
  UpdateLogStream,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';
import { EventTypes } from '../webhooks/event-types-field.tsx';
import { kindNames, type Stream, targetNames } from './stream-state.tsx';

const targets = {
  HTTP: [t('https, at a public address. Latchkey sends batches by POST.'), 'https://logs.example.com/ingest'],
  SYSLOG: [t('tls://host:port, at a public address. RFC 5424 over TLS.'), 'tls://logs.example.com:6514'],
  FILE: [t('In the folder of the setting LOG_STREAM_DIR.'), 'audit.jsonl'],
} as const;

interface StreamFormProps {
  /** Null: the instance. */
  projectId: string | null;
  /** Absent: a new stream. */
  stream?: Stream & { target: string };
  onClose(): void;
}

/** Creates or changes a log stream. */
export function StreamForm({ projectId, stream, onClose }: StreamFormProps) {
  const firstFocus = useFirstFocus<HTMLSelectElement & HTMLInputElement>();
  const { form, redacted } = useStreamForm(projectId, stream, onClose);
  const { kind, target } = form.values;
  const [help, placeholder] = targets[kind];
  return (
    <DialogForm
      {...form.props}
      verb={stream ? t('Save') : t('Create log stream')}
      disabled={target.trim() === ''}
      graphql={redacted}
    >
      {!stream && (
        <NativeSelect
          label={t('Kind')}
          data={Object.entries(kindNames)
            .filter(([value]) => value !== 'FILE' || projectId === null)
            .map(([value, name]) => ({ value, label: name }))}
          {...form.field('kind')}
          {...firstFocus}
        />
      )}
      <TextInput
        label={targetNames[kind]}
        description={help}
        placeholder={placeholder}
        maxLength={2048}
        {...verbatim}
        {...form.field('target')}
        {...(stream ? firstFocus : {})}
      />
      {kind === 'HTTP' && <HttpFields form={form} hasSecret={Boolean(stream?.header)} />}
      <TextInput
        label={t('Description')}
        description={t('Shown in lists instead of the receiver.')}
        maxLength={100}
        {...form.field('description')}
      />
      <EventTypes {...form.field('types')} />
    </DialogForm>
  );
}

function HttpFields({ form, hasSecret }: { form: StreamFormState['form']; hasSecret: boolean }) {
  return (
    <>
      <TextInput
        label={t('Header')}
        description={t('Carries the secret.')}
        maxLength={64}
        spellCheck={false}
        {...form.field('header')}
      />
      <PasswordInput
        label={t('Secret')}
        description={
          hasSecret
            ? t('Empty: unchanged. Required again for another URL.')
            : t('Value of the header, e.g. Bearer and a token. Stored encrypted, never shown.')
        }
        autoComplete="off"
        maxLength={4096}
        {...form.field('secret')}
      />
      <NativeSelect
        label={t('Format')}
        data={[
          { value: 'JSON_LINES', label: t('JSON lines') },
          { value: 'JSON_ARRAY', label: t('JSON array') },
        ]}
        {...form.field('format')}
      />
      <Checkbox label={t('Compress with gzip')} {...form.toggle('gzip')} />
    </>
  );
}

type StreamFormState = ReturnType<typeof useStreamForm>;

function useStreamForm(projectId: string | null, stream: StreamFormProps['stream'], onClose: () => void) {
  const initial = {
    kind: stream?.kind ?? ('HTTP' as LogStreamKind),
    target: stream?.target ?? '',
    description: stream?.description ?? '',
    types: stream?.types ?? [],
    format: stream?.format ?? ('JSON_LINES' as LogStreamFormat),
    gzip: stream?.gzip ?? false,
    header: stream?.header ?? 'Authorization',
    /** Empty: unchanged. */
    secret: '',
  };
  const requestOf = ({ kind, format, gzip, header, secret, ...rest }: typeof initial) => {
    const values = { target: rest.target.trim(), description: rest.description.trim(), types: rest.types };
    const ofHttp = kind === 'HTTP' ? { format, gzip, ...(secret !== '' && { header: header.trim(), secret }) } : {};
    return stream
      ? request(UpdateLogStream, { input: { id: stream.id, ...values, ...ofHttp } })
      : request(CreateLogStream, { input: { ...(projectId !== null && { projectId }), kind, ...values, ...ofHttp } });
  };
  const form = useDialogForm({
    initial,
    request: requestOf,
    invalidates: [LogStreams, LogStreamById, LogStreamTarget, AuditEvents],
    done: stream ? t('Saved') : t('Log stream created'),
    onClose,
  });
  const { secret } = form.values;
  return { form, redacted: requestOf({ ...form.values, secret: secret && '…' }) };
}
