import type { ReactNode } from 'react';
import { Section } from '../layout/page.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';

interface TableSectionProps<Row> extends Omit<DataTableProps<Row>, 'label'> {
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** Name of the table, for screen readers. Default: the title. */
  label?: string;
  /** Below the table. */
  children?: ReactNode;
}

export function TableSection<Row>({ title, lead, actions, label = title, children, ...table }: TableSectionProps<Row>) {
  return (
    <Section flush {...{ title, lead, actions }}>
      <DataTable label={label ?? ''} {...table} />
      {children}
    </Section>
  );
}
