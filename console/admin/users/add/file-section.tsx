import { Box, Button, FileButton, Group, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { counted } from '../../ui/counted.ts';
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
  const [text, setText] = useState('');
  const read = (name: string, content: string) => {
    const [head, ...body] = parseCsv(content);
    const problem = faultOf(head?.cells, head?.fault, body.length);
    setFault(problem);
    onRead(problem || !head ? undefined : { name, header: head.cells, body });
  };
  const open = async (file: File | null) => {
    if (!file) return;
    if (file.size > maxBytes) {
      setFault('The file is larger than 50 MB.');
      return;
    }
    read(file.name, decodeText(new Uint8Array(await file.arrayBuffer())));
  };
  return (
    <Section
      title="File"
      lead="Commas, semicolons or tabs between the columns. An export of users from this console works too."
    >
      <Group gap="md">
        <FileButton accept=".csv,.tsv,.txt,text/csv" onChange={(file) => void open(file)} disabled={disabled}>
          {(props) => (
            <Button {...props} variant={source ? 'default' : 'filled'} disabled={disabled}>
              {source ? 'Choose another file' : 'Choose file'}
            </Button>
          )}
        </FileButton>
        {source && (
          <Group gap={6} role="status">
            <Icon name="check" size={16} />
            <Text span>
              {source.name}: {counted(source.body.length, 'line')}, {counted(source.header.length, 'column')}
            </Text>
          </Group>
        )}
      </Group>
      {fault && (
        <Text c="var(--bad)" mt="sm" role="alert">
          {fault}
        </Text>
      )}
      <Box component="details" mt="md">
        <summary>Paste text</summary>
        <Textarea
          label="CSV"
          description="With a header, such as email,given_name,family_name."
          mt="sm"
          minRows={5}
          maxRows={12}
          autosize
          spellCheck={false}
          value={text}
          disabled={disabled}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button
          variant="default"
          mt="sm"
          disabled={disabled || text.trim() === ''}
          onClick={() => read('Pasted text', text)}
        >
          Read text
        </Button>
      </Box>
    </Section>
  );
}

function faultOf(header: readonly string[] | undefined, fault: string | undefined, lines: number): string | undefined {
  if (!header) return 'The file is empty.';
  if (fault) return `The first line cannot be read: ${fault.charAt(0).toLowerCase()}${fault.slice(1)}.`;
  if (lines === 0) return 'The file has only one line. The first line is the header.';
  if (lines > maxLines) return `The file has ${counted(lines, 'line')}. Import at most 50,000 at once.`;
  return undefined;
}
