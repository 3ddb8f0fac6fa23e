import { Button, Modal, Radio } from '@mantine/core';
import { useState } from 'react';
import type { UserFilter } from '../generated/operations.ts';
import { settings } from '../settings.ts';
import { Code } from '../ui/code/code.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { useDownload } from '../ui/files/use-download.ts';
import styles from './change-users.module.css';
import { exportAddress } from './user-filters.ts';

interface ExportUsersProps {
  opened: boolean;
  onClose(): void;
  projectId: string;
  /** Number of matching users. */
  total: number;
  search: string | undefined;
  filter: UserFilter;
}

const count = new Intl.NumberFormat('en-GB');

/** Exports all users that match the search and filters. */
export function ExportUsers({ opened, onClose, projectId, total, search, filter }: ExportUsersProps) {
  const [format, setFormat] = useState('csv');
  const { download, busy, failure } = useDownload();
  const address = exportAddress(projectId, format, search, filter);
  const isFiltered = search !== undefined || Object.keys(filter).length > 0;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`Export ${count.format(total)} user${total === 1 ? '' : 's'}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div className={styles.export}>
        <p>
          {isFiltered ? 'All users matching your search and filters.' : 'All users of the project.'} The file contains
          personal data; the export is logged.
        </p>
        <Radio.Group label="Format" value={format} onChange={setFormat}>
          <div className={styles.radios}>
            <Radio value="csv" label="CSV" description="For spreadsheets. Formulas are escaped with an apostrophe." />
            <Radio value="jsonl" label="JSON Lines" description="For programs: one user per line." />
          </div>
        </Radio.Group>
        <details>
          <summary>Script</summary>
          <Code
            label="command"
            code={`curl -OJ '‹${settings.issuer}${address}›' \\\n  -H 'Authorization: Bearer <admin API token>'`}
          />
        </details>
        <FormError failure={failure} />
        <div className={styles.close}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            loading={busy}
            onClick={async () => {
              if (!(await download(address))) return;
              toast('Download started');
              onClose();
            }}
          >
            Export
          </Button>
        </div>
      </div>
    </Modal>
  );
}
