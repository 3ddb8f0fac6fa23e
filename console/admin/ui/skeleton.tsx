import styles from './skeleton.module.css';

/** Skeleton of a page. */
export function PageSkeleton() {
  return (
    <div className={styles.page} aria-busy="true" aria-label="Loading" role="status">
      <i className={styles.title} />
      <i className={styles.card} />
    </div>
  );
}

/** Skeleton of a form or text. */
export function LinesSkeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div className={styles.lines} aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} className={styles.line} />
      ))}
    </div>
  );
}
