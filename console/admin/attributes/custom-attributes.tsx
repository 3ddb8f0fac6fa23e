import { Group, Text } from '@mantine/core';
import { lazy } from 'react';
import { useQuery } from '../api.ts';
import { traitsOf, typeText } from '../directories/attribute-names.ts';
import { customUrn } from '../directories/custom-urn.ts';
import {
  AuditEvents,
  type CustomAttributeRowFragment,
  CustomAttributes as CustomAttributesQuery,
  CustomAttributeUsers,
  DeleteCustomAttribute,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { AddButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { type Column, editColumn } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';

const AttributeForm = lazy(async () => ({ default: (await import('./attribute-form.tsx')).AttributeForm }));

/** The attributes that the project has added to its users. */
export function CustomAttributes({ projectId, mayChange }: { projectId: string; mayChange: boolean }) {
  const { data, failure, reload } = useQuery(CustomAttributesQuery, { projectId });
  const [dialog, { open, confirm }] = useDialog();
  const attributes = data?.customAttributes;
  if (failure && !attributes)
    return <LoadError failure={failure} subject={t('the custom attributes')} retry={reload} />;
  const create = () =>
    open(t('Create attribute'), (close) => <AttributeForm projectId={projectId} onClose={close} />, 'lg');
  const edit = (attribute: CustomAttributeRowFragment) =>
    open(t('Edit attribute'), (onClose) => <AttributeForm {...{ projectId, attribute, onClose }} />, 'lg');
  const remove = ({ name }: CustomAttributeRowFragment) =>
    confirm({
      title: t('Delete the attribute {name}?', { name }),
      effect: <Losses projectId={projectId} name={name} />,
      verb: t('Delete attribute'),
      request: request(DeleteCustomAttribute, { projectId, name }),
      invalidates: [CustomAttributesQuery, AuditEvents],
      done: t('Attribute deleted'),
    });
  const columns: Column<CustomAttributeRowFragment>[] = [
    { header: t('Name'), isName: true, width: '30%', cell: ({ name }) => <code>{name}</code> },
    { header: t('Type'), cell: typeText },
    { header: t('Rules'), cell: (attribute) => traitsOf(attribute).join(', ') || '–' },
    editColumn<CustomAttributeRowFragment>({ mayChange, edit, remove }),
  ];
  return (
    <TableSection
      title={t('Custom attributes')}
      lead={t('Attributes of users that no standard schema has. Directories find them in /Schemas.')}
      actions={
        mayChange && (
          <AddButton variant="default" onClick={create}>
            {t('Create attribute')}
          </AddButton>
        )
      }
      columns={columns}
      rows={attributes}
      keyOf={({ name }) => name}
      skeletonRows={2}
      empty={
        <Empty icon="directory" title={t('No custom attributes yet')}>
          {t('Create one here, or from a request whose attributes were ignored.')}
        </Empty>
      }
    >
      {attributes && attributes.length > 0 && (
        <Group py="md" px={{ base: 'md', sm: '1.5rem' }} maw="46rem">
          <CopyField label={t('Schema extension')} value={customUrn} />
        </Group>
      )}
      {dialog}
    </TableSection>
  );
}

function Losses({ projectId, name }: { projectId: string; name: string }) {
  const { data } = useQuery(CustomAttributeUsers, { projectId, name });
  if (!data) return <Text c="dimmed">{t('Counting users…')}</Text>;
  return (
    <p>
      {t(
        '{count, plural, one {# user loses} other {# users lose}} the value. Claims and filters that name it find nothing.',
        { count: data.customAttributeUsers },
      )}
    </p>
  );
}
