import { Modal } from '@mantine/core';
import { useState } from 'react';
import type { UserFilter } from '../generated/operations.ts';
import { settings } from '../settings.ts';
import { Code } from '../ui/code/code.tsx';
import { counted } from '../ui/counted.ts';
import { toast } from '../ui/feedback/toast.tsx';
import { useDownload } from '../ui/files/use-download.ts';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { Radios } from '../ui/forms/radios.tsx';
import { exportAddress } from './user-filters.ts';

interface ExportUsersProps {
  onClose(): void;
  projectId: string;
  /** Number of matching users; undefined: more than are counted. */
  total: number | undefined;
  search: string | undefined;
  filter: UserFilter;
}

const formats = {
  csv: { name: 'CSV', hint: 'For spreadsheets. Formulas are escaped with an apostrophe.' },
  jsonl: { name: 'JSON Lines', hint: 'For programs: one user per line.' },
} as const;

/** Exports all users that match the search and filters. */
export function ExportUsers({ onClose, projectId, total, search, filter }: ExportUsersProps) {
  const [format, setFormat] = useState<keyof typeof formats>('csv');
  const { download, busy, failure } = useDownload();
  const address = exportAddress(projectId, format, search, filter);
  const isFiltered = search !== undefined || Object.keys(filter).length > 0;
  return (
    <Modal
      opened
      onClose={onClose}
      title={total === undefined ? 'Export all matching users' : `Export ${counted(total, 'user')}`}
      size="lg"
    >
      <DialogForm
        verb="Export"
        {...{ busy, failure, onClose }}
        onSubmit={async () => {
          if (!(await download(address))) return;
          toast('Download started');
          onClose();
        }}
      >
        <p>
          {isFiltered ? 'All users matching your search and filters.' : 'All users of the project.'} The file contains
          personal data; the export is logged.
        </p>
        <Radios label="Format" isLabelled options={formats} value={format} onChange={setFormat} />
        <details>
          <summary>Script</summary>
          <Code
            label="command"
            code={`curl -OJ '‹${settings.issuer}${address}›' \\\n  -H 'Authorization: Bearer <admin API token>'`}
          />
        </details>
      </DialogForm>
    </Modal>
  );
}
