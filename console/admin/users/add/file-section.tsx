import { Box, Button, FileButton, Group, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { lower, t } from '../../language/language.ts';
import { SecondaryButton } from '../../ui/buttons.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { decodeText, parseCsv, type Source } from './csv.ts';

/** Rows of a file. */
const maxLines = 50_000;
const maxBytes = 50 * 1024 * 1024;

interface FileSectionProps {
  source: Source | undefined;
  disabled: boolean;
  onRead(source: Source | undefined): void;
}

/** Reads a chosen file or pasted text. */
export function FileSection({ source, disabled, onRead }: FileSectionProps) {
  const [fault, setFault] = useState<string>();
  const read = (name: string, content: string) => {
    const [head, ...body] = parseCsv(content);
    const problem = faultOf(head?.cells, head?.fault, body.length);
    setFault(problem);
    onRead(problem || !head ? undefined : { name, header: head.cells, body });
  };
  const open = async (file: File | null) => {
    if (!file) return;
    if (file.size > maxBytes) {
      setFault(t('The file is larger than 50 MB.'));
      return;
    }
    read(file.name, decodeText(new Uint8Array(await file.arrayBuffer())));
  };
  return (
    <Section
      title={t('File')}
      lead={t('Commas, semicolons or tabs between the columns. An export of users from this console works too.')}
    >
      <Group gap="md">
        <FileButton accept=".csv,.tsv,.txt,text/csv" onChange={(file) => void open(file)} disabled={disabled}>
          {(props) => (
            <Button {...props} variant={source ? 'default' : 'filled'} disabled={disabled}>
              {source ? t('Choose another file') : t('Choose file')}
            </Button>
          )}
        </FileButton>
        {source && (
          <Group gap={6} role="status">
            <Icon name="check" size={16} />
            <Text span>
              {source.name}: {t('{count, plural, one {# line} other {# lines}}', { count: source.body.length })},{' '}
              {t('{count, plural, one {# column} other {# columns}}', { count: source.header.length })}
            </Text>
          </Group>
        )}
      </Group>
      {fault && (
        <Text c="var(--bad)" mt="sm" role="alert">
          {fault}
        </Text>
      )}
      <PasteText disabled={disabled} onRead={(text) => read(t('Pasted text'), text)} />
    </Section>
  );
}

function PasteText({ disabled, onRead }: { disabled: boolean; onRead(text: string): void }) {
  const [text, setText] = useState('');
  return (
    <Box component="details" mt="md">
      <summary>{t('Paste text')}</summary>
      <Textarea
        label={t('CSV')}
        description={t('With a header, such as email,given_name,family_name.')}
        mt="sm"
        minRows={5}
        maxRows={12}
        autosize
        spellCheck={false}
        value={text}
        disabled={disabled}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <SecondaryButton mt="sm" disabled={disabled || text.trim() === ''} onClick={() => onRead(text)}>
        {t('Read text')}
      </SecondaryButton>
    </Box>
  );
}

function faultOf(header: readonly string[] | undefined, fault: string | undefined, lines: number): string | undefined {
  if (!header) return t('The file is empty.');
  if (fault) return t('The first line cannot be read: {fault}.', { fault: lower(fault.charAt(0)) + fault.slice(1) });
  if (lines === 0) return t('The file has only one line. The first line is the header.');
  if (lines > maxLines)
    return t('The file has {count, plural, one {# line} other {# lines}}. Import at most 50,000 at once.', {
      count: lines,
    });
  return undefined;
}
