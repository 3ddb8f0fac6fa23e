import { Modal } from '@mantine/core';
import { useState } from 'react';
import type { UserFilter } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { settings } from '../settings.ts';
import { Code } from '../ui/code/code.tsx';
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
  csv: { name: 'CSV', hint: t('For spreadsheets. Formulas are escaped with an apostrophe.') },
  jsonl: { name: 'JSON Lines', hint: t('For programs: one user per line.') },
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
      title={
        total === undefined
          ? t('Export all matching users')
          : t('Export {count, plural, one {# user} other {# users}}', { count: total })
      }
      size="lg"
    >
      <DialogForm
        verb={t('Export')}
        {...{ busy, failure, onClose }}
        onSubmit={async () => {
          if (!(await download(address))) return;
          toast(t('Download started'));
          onClose();
        }}
      >
        <p>
          {isFiltered ? t('All users matching your search and filters.') : t('All users of the project.')}{' '}
          {t('The file contains personal data; the export is logged.')}
        </p>
        <Radios label={t('Format')} isLabelled options={formats} value={format} onChange={setFormat} />
        <details>
          <summary>{t('Script')}</summary>
          <Code
            label={t('command')}
            code={`curl -OJ '‹${settings.issuer}${address}›' \\
  -H 'Authorization: Bearer <admin API token>'`}
          />
        </details>
      </DialogForm>
    </Modal>
  );
}
