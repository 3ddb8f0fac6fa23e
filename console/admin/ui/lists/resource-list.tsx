import { type ReactNode, useRef } from 'react';
import { type QueryResult, useQuery } from '../../api.ts';
import type { Operation } from '../../generated/operations.ts';
import { lower, t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';
import { Empty } from '../feedback/empty.tsx';
import { LoadError } from '../feedback/errors.tsx';
import { Section } from '../layout/page.tsx';
import { type Columns, DataTable } from './data-table.tsx';
import { ListBar, type PageInfo, Pager, SearchField, useListParams } from './list-bar.tsx';
import { firstRow, rangeOf } from './range.ts';

interface Connection<Row> {
  edges: readonly { node: Row }[];
  pageInfo: PageInfo;
  totalCount?: number;
  /** There are more than `totalCount`. */
  isTotalLimited?: boolean;
  /** More match than are listed. */
  isLimited?: boolean;
}

interface List<Row> extends Omit<QueryResult<unknown>, 'data'> {
  page: Connection<Row> | undefined;
  rows: Row[] | undefined;
  /** Parameter of the URL: number of the first of these rows. */
  from: string | undefined;
  search: string | undefined;
  /** The list has no rows even without a search. */
  isEmpty: boolean;
}

/**
 * A page of a list; search and cursor come from the URL.
 *
 * @param isFiltered by filters other than the search
 * @param everySeconds polling interval of the first page
 */
export function useList<Data, Variables, Row>(
  operation: Operation<Data, Variables>,
  variables: (search: string | null, after: string | null) => Variables,
  connectionOf: (data: Data) => Connection<Row>,
  { isFiltered = false, everySeconds }: { isFiltered?: boolean; everySeconds?: number } = {},
): List<Row> {
  const { get } = useListParams();
  const [search, after] = [get('search'), get('after')];
  const { data, ...result } = useQuery(operation, variables(search ?? null, after ?? null), {
    keep: true,
    ...(after || everySeconds === undefined ? {} : { everySeconds }),
  });
  const page = data && connectionOf(data);
  const hasNone = page?.edges.length === 0 && !after;
  // Until the response, the rows are those of the previous page.
  const from = useRef(get('from'));
  if (!result.previous) from.current = get('from');
  return {
    ...result,
    page,
    // Empty because of the previous search: unknown until the response.
    rows: result.previous && hasNone ? undefined : page?.edges.map(({ node }) => node),
    from: from.current,
    search,
    isEmpty: hasNone && !search && !isFiltered && !result.previous,
  };
}

interface ResourceListProps<Row> {
  list: List<Row>;
  /** Heading of the section. */
  title?: string;
  /** Name of the rows: "Users". */
  label: string;
  /** Placeholder of the search: names the fields that it matches. */
  placeholder: string;
  searchLabel?: string;
  /** Filters beside the search. */
  filters?: ReactNode;
  columns: Columns<Row>;
  linkOf?(row: Row): string;
  skeletonRows?: number;
  /** A number of rows: "12 users". */
  counted?(total: number): string;
  /** Replaces the number of rows. */
  total?: string | undefined;
  /** Shown instead of an empty list. */
  empty: ReactNode;
  /** The reason why a search finds nothing. */
  noMatch?: string;
  /** Clears search and filters. */
  onClear?(): void;
  /** Content between the filters and the table. */
  children?: ReactNode;
}

function range(
  { edges, totalCount = 0, isTotalLimited }: Connection<unknown>,
  counted: (total: number) => string,
  from: string | undefined,
) {
  return rangeOf({ from: firstRow(from), rows: edges.length, total: totalCount, isLimited: isTotalLimited }, counted);
}

/** Searchable list of a resource, with paging, empty and error states. */
export function ResourceList<Row extends { id: string }>(props: ResourceListProps<Row>) {
  const { list, label, counted, columns, empty, noMatch, onClear } = props;
  const { page, failure, stale } = list;
  const name = lower(label);
  if (failure && !page)
    return <LoadError failure={failure} subject={t('the list of {name}', { name })} retry={list.reload} />;
  const clear = onClear && <SecondaryButton onClick={onClear}>{t('Clear search and filters')}</SecondaryButton>;
  return (
    <Section flush {...(props.title ? { title: props.title } : {})}>
      {!list.isEmpty && (
        <ListBar count={props.total ?? (counted && page && range(page, counted, list.from))}>
          <SearchField label={props.searchLabel ?? t('Search {name}', { name })} placeholder={props.placeholder} />
          {props.filters}
        </ListBar>
      )}
      {props.children}
      <DataTable
        label={label}
        columns={columns}
        rows={list.rows}
        {...(props.linkOf ? { linkOf: props.linkOf } : {})}
        stale={stale}
        {...(props.skeletonRows ? { skeletonRows: props.skeletonRows } : {})}
        empty={
          list.isEmpty ? (
            empty
          ) : (
            <Empty icon="search" title={t('No matching {name}', { name })} action={clear}>
              {noMatch}
            </Empty>
          )
        }
      />
      <Pager pageInfo={page?.pageInfo} from={list.from} rows={page?.edges.length} />
    </Section>
  );
}
