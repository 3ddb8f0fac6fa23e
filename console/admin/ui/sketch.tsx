import styles from './sketch.module.css';

/** The shape of a page that is being read. */
export function PageSketch() {
  return (
    <div className={styles.page} aria-busy="true" aria-label="Loading" role="status">
      <i className={styles.title} />
      <i className={styles.card} />
    </div>
  );
}

/** The shape of a form or text that is being read. */
export function LinesSketch({ lines = 4 }: { lines?: number }) {
  return (
    <div className={styles.lines} aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} className={styles.line} />
      ))}
    </div>
  );
}
