import { Checkbox, NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
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
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { EventTypes } from '../webhooks/event-types-field.tsx';
import { kindNames, type Stream } from './stream-state.tsx';

const targets = {
  HTTP: ['URL', t('https, at a public address. Latchkey sends batches by POST.'), 'https://logs.example.com/ingest'],
  SYSLOG: [
    t('Collector'),
    t('tls://host:port, at a public address. RFC 5424 over TLS.'),
    'tls://logs.example.com:6514',
  ],
  FILE: [t('File name'), t('In the folder of the setting LOG_STREAM_DIR.'), 'audit.jsonl'],
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
  const [kind, setKind] = useState<LogStreamKind>(stream?.kind ?? 'HTTP');
  const [target, setTarget] = useState(stream?.target ?? '');
  const [description, setDescription] = useState(stream?.description ?? '');
  const [types, setTypes] = useState<string[]>(stream?.types ?? []);
  const [format, setFormat] = useState<LogStreamFormat>(stream?.format ?? 'JSON_LINES');
  const [gzip, setGzip] = useState(stream?.gzip ?? false);
  const [header, setHeader] = useState(stream?.header ?? 'Authorization');
  const [secret, setSecret] = useState('');
  const stale = [LogStreams, LogStreamById, LogStreamTarget, AuditEvents];
  const [create, creating, createFailure] = useMutation(CreateLogStream, stale);
  const [update, updating, updateFailure] = useMutation(UpdateLogStream, stale);
  const firstFocus = useFirstFocus<HTMLSelectElement & HTMLInputElement>();
  const failure = createFailure ?? updateFailure;
  const values = { target: target.trim(), description: description.trim(), types };
  const ofHttp = kind === 'HTTP' ? { format, gzip, ...(secret !== '' && { header: header.trim(), secret }) } : {};
  const made = { input: { ...(projectId !== null && { projectId }), kind, ...values, ...ofHttp } };
  const changed = stream && { input: { id: stream.id, ...values, ...ofHttp } };
  const submit = async () => {
    const outcome = changed ? await update(changed) : await create(made);
    if (!outcome.data) return;
    toast(changed ? t('Saved') : t('Log stream created'));
    onClose();
  };
  const shown = (input: object) => ({ input: { ...input, ...(secret !== '' && { secret: '…' }) } });
  const [label, help, placeholder] = targets[kind];
  return (
    <DialogForm
      verb={stream ? t('Save') : t('Create log stream')}
      busy={creating || updating}
      {...{ failure, onClose }}
      fields={['kind', 'target', 'description', 'header', 'secret']}
      disabled={values.target === ''}
      graphql={
        changed
          ? request(UpdateLogStream, shown(changed.input) as typeof changed)
          : request(CreateLogStream, shown(made.input) as typeof made)
      }
      onSubmit={() => void submit()}
    >
      {!stream && (
        <NativeSelect
          label={t('Kind')}
          data={Object.entries(kindNames)
            .filter(([value]) => value !== 'FILE' || projectId === null)
            .map(([value, name]) => ({ value, label: name }))}
          value={kind}
          error={faultAt(failure, 'kind')}
          onChange={(event) => setKind(event.currentTarget.value as LogStreamKind)}
          {...firstFocus}
        />
      )}
      <TextInput
        label={label}
        description={help}
        placeholder={placeholder}
        maxLength={2048}
        spellCheck={false}
        autoCapitalize="none"
        value={target}
        error={faultAt(failure, 'target')}
        onChange={(event) => setTarget(event.currentTarget.value)}
        {...(stream ? firstFocus : {})}
      />
      {kind === 'HTTP' && (
        <>
          <TextInput
            label={t('Header')}
            description={t('Carries the secret.')}
            maxLength={64}
            spellCheck={false}
            value={header}
            error={faultAt(failure, 'header')}
            onChange={(event) => setHeader(event.currentTarget.value)}
          />
          <PasswordInput
            label={t('Secret')}
            description={
              stream?.header
                ? t('Empty: unchanged. Required again for another URL.')
                : t('Value of the header, e.g. Bearer and a token. Stored encrypted, never shown.')
            }
            autoComplete="off"
            maxLength={4096}
            value={secret}
            error={faultAt(failure, 'secret')}
            onChange={(event) => setSecret(event.currentTarget.value)}
          />
          <NativeSelect
            label={t('Format')}
            data={[
              { value: 'JSON_LINES', label: t('JSON lines') },
              { value: 'JSON_ARRAY', label: t('JSON array') },
            ]}
            value={format}
            onChange={(event) => setFormat(event.currentTarget.value as LogStreamFormat)}
          />
          <Checkbox
            label={t('Compress with gzip')}
            checked={gzip}
            onChange={(event) => setGzip(event.currentTarget.checked)}
          />
        </>
      )}
      <TextInput
        label={t('Description')}
        description={t('Shown in lists instead of the receiver.')}
        maxLength={100}
        value={description}
        error={faultAt(failure, 'description')}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <EventTypes value={types} onChange={setTypes} />
    </DialogForm>
  );
}
