"""Logistic regression on words, for the baselines."""

from typing import Any


def word_pairs() -> Any:
    """Return tf-idf of the words, and of two in a row, that two texts have; 1 + log of counts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)


def regressed(
    vectors: Any, texts: list[str], truth: Any, unseen: list[str], **settings: Any
) -> Any:
    """Return what logistic regression predicts, a model for each column of `truth`."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    known, new = vectors.fit_transform(texts), vectors.transform(unseen)
    predicted = np.empty((len(unseen), truth.shape[1]), dtype=truth.dtype)
    with threadpool_limits(1):  # more threads take longer on matrices of this size
        for number, column in enumerate(truth.T):
            if len(set(column)) == 1:  # as in a sample
                predicted[:, number] = column[0]
            else:
                model = LogisticRegression(max_iter=1000, **settings).fit(known, column)
                predicted[:, number] = model.predict(new)
    return predicted
