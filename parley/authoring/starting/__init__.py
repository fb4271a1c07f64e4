"""Write a new dataset folder: the skeleton, or a draft from upstream's files (`parley new`)."""
